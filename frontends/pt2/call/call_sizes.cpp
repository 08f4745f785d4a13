// SPDX-License-Identifier: Apache-2.0
// Sizes of a call's results: as the model says them, or as they turn out to be.
#include <fmt/format.h>

#include "frontends/pt2/call/call.h"
#include "frontends/pt2/file/open_sizes.h"

namespace deuteron::pt2 {

bool Call::has_size(const Shape& shape, i64 least) {
  auto fault = fault_of_size(shape, least);
  if (!fault) return true;
  fault->rule = "pt2." + fault->rule;
  return refuse(std::move(*fault)), false;
}

const TensorMeta* Call::declared_result(size_t index) {
  const auto it = index < node_.outputs.size() ? state_.program.tensors.find(node_.outputs[index])
                                               : state_.program.tensors.end();
  if (it == state_.program.tensors.end())
    refuse({"its result has no shape in the model", "", "", "pt2.graph.shape"});
  return ok_ ? &it->second : nullptr;
}

const TensorMeta* Call::result_meta(size_t index) {
  const TensorMeta* declared = declared_result(index);
  if (declared && declared->dynamic) refuse_computed_size();
  return ok_ ? declared : nullptr;
}

void Call::refuse_computed_size() {
  refuse({"its result has as many elements as computed values say: a program's sizes are fixed", "",
          "", "pt2.shape.computed"},
         "choose with a constant mask; or keep the shape: torch.where(mask, x, 0), topk instead of "
         "nonzero");
}

void Call::refuse_range(const std::string& range, const std::string& found) {
  if (!range.empty())
    refuse(
        {"a size of its result lies outside of the range that the model says: the file is damaged",
         found, range, "pt2.graph.shape"},
        "write the file again with torch.export.save");
}

bool Call::check_declared_shape(size_t index, const Shape& shape) {
  const TensorMeta* declared = declared_result(index);
  if (declared && declared->dynamic && state_.sizes)
    refuse_range(state_.sizes->learn(node_.outputs[index], shape), to_text(shape));
  if (ok_ && declared && declared->dynamic) refuse_computed_size();
  if (ok_ && declared && declared->sizes != shape)
    refuse({"the shape of its result differs from what the model says: the file is damaged",
            to_text(shape), to_text(declared->sizes), "pt2.graph.shape"},
           "write the file again with torch.export.save");
  return ok_;
}

void Call::size_result(i64 size) {
  if (!ok_ || !state_.sizes || node_.sizes.size() != 1) return;
  refuse_range(state_.sizes->learn(node_.sizes[0], size), std::to_string(size));
}

bool Call::drop_tested_size() {
  if (!ok_ || !state_.sizes || node_.sizes.size() != 1 ||
      !state_.sizes->is_only_tested(node_.sizes[0]))
    return false;
  state_.sizes->drop(node_.sizes[0]);
  return true;
}

void Call::number_result(double value) {
  if (ok_ && state_.sizes && gives_number()) state_.sizes->learn_number(node_.numbers[0], value);
}

}  // namespace deuteron::pt2
