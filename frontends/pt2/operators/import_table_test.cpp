// SPDX-License-Identifier: Apache-2.0
// The rows of all files against each other, against torch's schemas and against the portable
// kernels.
#include "frontends/pt2/operators/import_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "frontends/pt2/operators/leftovers.h"
#include "frontends/pt2/schema/torch_schema.h"
#include "runtime/kernel.h"

namespace deuteron::pt2 {
namespace {

// "aten.pow_.Scalar": of an operator whose overload has another name in place.
bool is_in_place_spelling(std::string_view target) {
  return target[target.rfind('.') - 1] == '_' && !target.starts_with("aten.__");
}

std::string in_place_form(std::string_view target) {
  const size_t overload = target.rfind('.');
  if (target.starts_with("aten.__"))
    return std::string(target).insert(7, "i");  // __and__, __iand__
  return std::string(target.substr(0, overload)) + "_" + std::string(target.substr(overload));
}

TEST(ImportTable, HasEachTargetOnce) {
  std::set<std::string_view> all;
  for (const ImportRows rows : import_tables()) {
    EXPECT_FALSE(rows.empty());
    EXPECT_TRUE(
        std::is_sorted(rows.begin(), rows.end(),
                       [](const ImportRow& a, const ImportRow& b) { return a.target < b.target; }))
        << rows.front().target;
    const bool leftovers = rows.data() == leftovers_rows().data();
    for (const ImportRow& row :
         rows)  // a leftover may have an importer for the calls that have a form of their own
      EXPECT_TRUE(all.insert(row.target).second || leftovers) << row.target;
  }
  EXPECT_GT(all.size(), 370u);
}

TEST(ImportTable, OfComplexTensorsIsSortedAndHasSchemas) {
  for (const ImportRows rows : complex_import_tables()) {
    EXPECT_TRUE(
        std::is_sorted(rows.begin(), rows.end(),
                       [](const ImportRow& a, const ImportRow& b) { return a.target < b.target; }));
    for (const ImportRow& row : rows) {
      EXPECT_TRUE(parameters_of(row.target))
          << row.target << ": run frontends/pt2/schema/make_schemas.py";
      EXPECT_TRUE(!row.has_in_place_form || parameters_of(in_place_form(row.target))) << row.target;
    }
  }
  EXPECT_NE(find_import("aten.mul.Tensor", true).row, find_import("aten.mul.Tensor").row);
  EXPECT_EQ(find_import("aten.sigmoid.default", true).row, nullptr);
  EXPECT_NE(find_import("aten.stft.default").row, nullptr);
}

TEST(ImportTable, HasTorchsSchemaOfEveryTarget) {
  for (const ImportRows rows : import_tables())
    for (const ImportRow& row : rows) {
      const auto parameters = parameters_of(row.target);
      ASSERT_TRUE(parameters) << row.target << ": run frontends/pt2/schema/make_schemas.py";
      if (!row.has_in_place_form || is_in_place_spelling(row.target)) continue;
      const auto same = parameters_of(in_place_form(row.target));
      ASSERT_TRUE(same) << in_place_form(row.target);
      ASSERT_EQ(same->size(), parameters->size()) << row.target;
      for (size_t k = 0; k < same->size(); ++k)
        EXPECT_EQ((*same)[k].type, (*parameters)[k].type) << row.target;
    }
}

TEST(ImportTable, FindsInPlaceForms) {
  EXPECT_EQ(find_import("aten.relu.default").row, find_import("aten.relu_.default").row);
  EXPECT_TRUE(find_import("aten.relu_.default").in_place);
  EXPECT_FALSE(find_import("aten.relu.default").in_place);
  EXPECT_EQ(find_import("aten.linear_.default").row, nullptr);
  EXPECT_FALSE(find_import("aten.__rshift__.Scalar").in_place);
  EXPECT_TRUE(find_import("aten.__irshift__.Scalar").in_place);
  EXPECT_EQ(find_import("").row, nullptr);
  EXPECT_EQ(find_import("_.").row, nullptr);
}

// The letter of a kernel's schema (runtime/schema.h) for a parameter of torch's.
char letter_of(const TorchParameter& p) {
  const std::string_view element = p.element();
  const bool none = p.may_be_none();
  if (element == "Tensor") return none ? 't' : 'T';
  if (element == "bool") return 'B';
  if (element == "int" || element == "SymInt" || element == "ScalarType")
    return p.is_list() ? (none ? 'l' : 'L') : none ? 'i' : 'I';
  if (element == "float" || element == "Scalar") return none ? 'f' : 'F';
  return '?';
}

TEST(Leftovers, HaveAKernelWithTorchsParameters) {
  EXPECT_FALSE(leftover_kernels().empty());
  for (const LeftoverKernel& leftover : leftover_kernels()) {
    const Kernel* kernel = nullptr;
    for (int k = 0; k < kAllKernels.count; ++k)
      if (leftover.kernel == kAllKernels.kernels[k]->name) kernel = kAllKernels.kernels[k];
    ASSERT_NE(kernel, nullptr) << leftover.kernel;
    const auto parameters = parameters_of(leftover.target);
    ASSERT_TRUE(parameters) << leftover.target;
    std::string letters;
    for (const TorchParameter& p : *parameters) letters += letter_of(p);
    const std::string schema = kernel->schema;
    EXPECT_EQ(schema.substr(0, letters.size()), letters) << leftover.target;
    EXPECT_EQ(schema.find_first_not_of('O', letters.size()), std::string::npos) << leftover.target;
    EXPECT_GT(schema.size(), letters.size()) << leftover.target;
  }
}

}  // namespace
}  // namespace deuteron::pt2
