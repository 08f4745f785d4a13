// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/table/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronTable, TableOfEveryValue) {
  Model model;
  const Bytes table = Random(8).bytes(256);
  TableCall a{model.input(256), model.output(256), model.constant(table), 256};
  model.call(Kind::kTable, a);
  test::expect_same(test::result_of(model, {all_bytes()}), table);
}

}  // namespace
}  // namespace deuteron::neutron
