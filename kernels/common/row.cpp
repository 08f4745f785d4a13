// SPDX-License-Identifier: Apache-2.0
// The one reader of rows.
#include "kernels/common/row.h"

namespace deuteron {

namespace {

struct TensorRule {
  ScalarType type;
  uint8_t rank, flags;
};
constexpr TensorRule kTensorRules[] = {
#define DEUTERON_RULE(name, type, rank, flags) {ScalarType::type, rank, flags},
    DEUTERON_TENSOR_RULES(DEUTERON_RULE)
#undef DEUTERON_RULE
};

struct NumberRule {
  int32_t low, high;
  const char* words;
};
constexpr NumberRule kNumberRules[] = {
#define DEUTERON_RULE(name, low, high, flags, words) {low, high, words},
    DEUTERON_NUMBER_RULES(DEUTERON_RULE)
#undef DEUTERON_RULE
};
constexpr uint8_t kNumberFlags[] = {
#define DEUTERON_RULE(name, low, high, flags, words) flags,
    DEUTERON_NUMBER_RULES(DEUTERON_RULE)
#undef DEUTERON_RULE
};
constexpr int kTensorRuleCount = sizeof kTensorRules / sizeof(TensorRule);

const char* why_not_type(ScalarType type) {
  switch (type) {
    case ScalarType::s8:
      return "must be int8";
    case ScalarType::s16:
      return "must be int16";
    case ScalarType::u8:
      return "must be uint8";
    case ScalarType::s32:
      return "must be int32";
    default:
      return "must be float32";
  }
}

// Numbers of an argument that is one or a list; null where they are what the rule says.
struct Reader {
  const Call& call;
  int32_t* fields;
  int64_t previous = 0;

  const char* read(const Argument& a, int at) {
    const int which = static_cast<int>(a.is) - kTensorRuleCount;
    const NumberRule& rule = kNumberRules[which];
    const uint8_t flags = kNumberFlags[which];
    const bool is_list = a.letter == 'L', is_pair = (flags & kPair) != 0;
    const int count = is_pair ? 2 : 1;
    if (is_list && call.list(at).count != count)
      return is_pair ? "must have two numbers" : "must have one number";
    const int64_t low = (flags & kFromPrevious) != 0 ? previous : rule.low;
    const int64_t high = (flags & kAxis) != 0 ? call.tensor(0).rank - 1 : rule.high;
    for (int k = 0; k < count; ++k) {
      previous = is_list ? call.list_integer(at, k) : call.integer(at);
      if (!lies_in(previous, low, high)) return rule.words;
      if (a.field != kNoField) fields[a.field + k] = static_cast<int32_t>(previous);
    }
    return nullptr;
  }
};

}  // namespace

const char* why_not(Is is, const Tensor& t, const Tensor& first) {
  const TensorRule& rule = kTensorRules[static_cast<int>(is)];
  const ScalarType type = rule.type;
  const uint32_t bytes = (rule.flags & kWords) != 0 ? 4 : element_bytes(type);
  if (t.type != type) return why_not_type(type);
  if (!is_aligned(t, bytes)) return bytes == 2 ? "must be 2-aligned" : "must be 4-aligned";
  if ((rule.flags & kHasAxis) != 0 && t.rank < 1) return "must have a dimension";
  if (rule.rank != 0 && t.rank != rule.rank)
    return rule.rank == 4 ? "must have rank 4" : "has the wrong rank";
  if ((rule.flags & kImage) != 0 && !is_channels_last(t)) return "must be stored channels-last";
  if ((rule.flags & kDenseOrder) != 0 && !is_dense(t))
    return "must be stored in the order of its dimensions";
  if ((rule.flags & kConstant) != 0 && !t.constant) return "must be a constant";
  if ((rule.flags & kLike) != 0 && !same_layout(first, t))
    return "must have the sizes and the order of the input";
  return nullptr;
}

Status read_arguments(const Call& call, const Argument* row, int count, int first, void* args) {
  Reader reader{call, static_cast<int32_t*>(args)};
  for (int i = first; i < first + count; ++i, ++row) {
    const char* why = nullptr;
    if (row->letter == 'B') {
      if (row->field != kNoField)
        *reinterpret_cast<bool*>(reader.fields + row->field) = call.boolean(i);
    } else if (row->is == Is::any) {
      continue;
    } else if (row->letter == 'T' || row->letter == 'O' || row->letter == 'X') {
      why = why_not(row->is, call.tensor(i), call.tensor(0));
      if (row->field != kNoField) reader.fields[row->field] = call.tensor(i).numel;
    } else {
      why = reader.read(*row, i);
    }
    if (why != nullptr) return bad_argument(i, why);
  }
  return Status{};
}

Status read_width(const Call& call, int argument, bool* is_wide) {
  const ScalarType type = call.tensor(argument).type;
  *is_wide = type == ScalarType::s16;
  return *is_wide || type == ScalarType::s8 ? Status{}
                                            : bad_argument(argument, "must be int8 or int16");
}

bool refuse(Status* why, int argument, const char* words) {
  *why = bad_argument(argument, words);
  return false;
}

}  // namespace deuteron
