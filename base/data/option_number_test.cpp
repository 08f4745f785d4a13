// SPDX-License-Identifier: Apache-2.0
#include "base/data/option_number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deuteron {
namespace {

using testing::HasSubstr;

TEST(OptionNumber, WholeNumbers) {
  NumberRange threads = range_of<int>();
  threads.least = 1, threads.most = 1024;
  for (const char* good : {"1", "7", "1024"}) EXPECT_EQ(complaint_of(threads, good), "") << good;
  for (const char* bad : {"", "0", "-1", "1025", "nan", "inf", "1.0", "1e2", "0x10", "010", "+1",
                          " 1", "1 ", "1x", "12345678901234567890"})
    EXPECT_THAT(complaint_of(threads, bad), HasSubstr("is not a whole number, 1 to 1024")) << bad;
  EXPECT_EQ(complaint_of(range_of<int64_t>(), "-9223372036854775808"), "");
  EXPECT_EQ(complaint_of(range_of<uint32_t>(), "4294967295"), "");
  EXPECT_EQ(complaint_of(range_of<uint32_t>(), "4294967296"),
            "`4294967296` is not a whole number, 0 to 4294967295");
  EXPECT_EQ(complaint_of(range_of<size_t>(), "18446744073709551615"),
            "`18446744073709551615` is not a whole number, 0 or more");
  EXPECT_NE(complaint_of(range_of<size_t>(), "-1"), "");
}

TEST(OptionNumber, RealNumbers) {
  NumberRange any = range_of<double>(), seconds = any, divisor = any;
  seconds.sign = NumberRange::Sign::positive, seconds.largest = 1e6;
  divisor.sign = NumberRange::Sign::not_zero;
  for (const char* good : {"1", "-0.5", "1e-3", ".5", "3.4e38", "0"})
    EXPECT_EQ(complaint_of(any, good), "") << good;
  for (const char* bad :
       {"", "nan", "-nan", "inf", "-inf", "1e39", "1e400", "0x1p3", "+1", "1,5", "1 ", "1s", "--1"})
    EXPECT_THAT(complaint_of(any, bad), HasSubstr("is not a number, -3.40282e+38 to 3.40282e+38"))
        << bad;
  EXPECT_EQ(complaint_of(seconds, "0"), "`0` is not a number above 0, at most 1e+06");
  for (const char* bad : {"-1", "1e-300", "1000001"})
    EXPECT_NE(complaint_of(seconds, bad), "") << bad;
  for (const char* bad : {"0", "0.00", "-0", "0e9", "1e-60"})
    EXPECT_THAT(complaint_of(divisor, bad), HasSubstr("not 0")) << bad;
}

TEST(OptionNumber, Lists) {
  const NumberRange any = range_of<float>();
  EXPECT_EQ(complaint_of_list(any, "0.485,0.456,0.406"), "");
  for (const char* bad : {"", ",", "1,", ",1", "1,,2", "1,nan,2"})
    EXPECT_NE(complaint_of_list(any, bad), "") << bad;
  EXPECT_EQ(complaint_of_list(any, "1,x,y"), "`x` is not a number, -3.40282e+38 to 3.40282e+38");
}

TEST(OptionNumber, LongAndStrangeTextIsCutAndEscaped) {
  const std::string said = complaint_of(range_of<int>(), "\x1b[31m" + std::string(1000, '9'));
  EXPECT_LT(said.size(), 150u);
  EXPECT_THAT(said, HasSubstr("\\x1b[31m999"));
}

}  // namespace
}  // namespace deuteron
