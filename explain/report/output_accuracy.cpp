// SPDX-License-Identifier: Apache-2.0
#include "explain/report/output_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compile/compilation.h"
#include "explain/report/output_steps.h"

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

Json finite_or_null(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

constexpr double kLostDb = 6;        // the error has half the size of the output, or more
constexpr double kBelowOthers = 20;  // dB: a tenth of the precision of the parts beside it
constexpr double kEnoughDb = 15;     // then it may be below the others
constexpr double kGoodDb = 30;       // then no column of an input is missed

// The axis of the value's shape that is the user's `axis`.
i64 stored_axis(const Port& port, i32 axis) {
  const auto at = std::ranges::find(port.order, i64{axis});
  return axis < 0 || at == port.order.end() ? -1 : at - port.order.begin();
}

double reach(const PartError& part) {
  const PartError::Range& r = part.expected;
  return std::max(part.size, std::max(0.0, double{r.high}) - std::min(0.0, double{r.low}));
}

std::string range_text(const PartError::Range& r) {
  return fmt::format("{:.4g} to {:.4g}", r.low, r.high);
}
std::string db_text(double db) {
  return std::isinf(db) && db > 0 ? std::string("no error") : fmt::format("{:.1f} dB", db);
}

std::string part_name(std::string_view name, size_t rank, i32 axis, size_t index) {
  std::string text = fmt::format("`{}`", name);
  if (axis < 0) return text;
  text += '[';
  for (size_t k = 0; k < rank; ++k)
    text += (k > 0 ? ", " : "") +
            (static_cast<i32>(k) == axis ? std::to_string(index) : std::string(":"));
  return text + ']';
}

std::vector<PartOfOutput> parts_with_numbers(const std::vector<OutputAccuracy>& outputs) {
  std::vector<PartOfOutput> parts;
  for (const OutputAccuracy& o : outputs)
    for (size_t p = 0; !o.is_integer && p < o.parts.size(); ++p)
      if (o.parts[p].expected.most() > 0 || o.parts[p].size > 0) parts.push_back({&o, p});
  return parts;
}

// Of the others: the middle one.
double db_of_others(const std::vector<PartOfOutput>& parts, const PartOfOutput& but) {
  std::vector<double> others;
  for (const PartOfOutput& p : parts)
    if (p.output != but.output || p.part != but.part) others.push_back(p.output->db(p.part));
  if (others.empty()) return -std::numeric_limits<double>::infinity();
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::ranges::nth_element(others, middle);
  return *middle;
}

struct PartFault {
  const char* rule;
  std::string what, measured, limit;
};

constexpr std::string_view kUpstreamAdvice =
    "what it is made of has lost it: `deuteron doctor --try` names the operators that do, and says "
    "what --precision int16 comes to";

// Another part of the output sets its steps.
bool is_beside_larger(const PartOfOutput& p) {
  constexpr double kLarger = 8;
  const std::vector<PartError>& parts = p.output->parts;
  return std::ranges::any_of(
      parts, [&](const PartError& o) { return reach(o) >= kLarger * reach(parts[p.part]); });
}

// What is wrong with an output as a whole, or with one of its parts; the gravest.
std::optional<PartFault> part_fault_of(const PartOfOutput& p,
                                       const std::vector<PartOfOutput>& all) {
  const OutputAccuracy& o = *p.output;
  const PartError& e = o.parts[p.part];
  if (e.is_constant())
    return PartFault{"accuracy.constant",
                     fmt::format("{} is {:.4g} for all samples; the float model's is {}",
                                 name_of(p), e.found.low, range_text(e.expected)),
                     "", ""};
  if (const double steps = o.steps[p.part]; steps >= 0 && steps < kFewestSteps && e.size == 0)
    return PartFault{"accuracy.steps",
                     fmt::format("{} is {}, and has too few of the program's steps", name_of(p),
                                 range_text(e.expected)),
                     fmt::format("{:.1f}", steps), fmt::format("{:.0f}", kFewestSteps)};
  if (e.db() <= kLostDb)
    return PartFault{"accuracy.lost",
                     fmt::format("{} has lost what the float model says", name_of(p)),
                     db_text(e.db()), fmt::format("{:.0f} dB", kLostDb)};
  if (const double others = db_of_others(all, p);
      o.db(p.part) < std::min(kEnoughDb, others - kBelowOthers))
    return PartFault{
        "accuracy.part",
        fmt::format("{} is far less accurate than the outputs beside it, which have {}", name_of(p),
                    db_text(others)),
        db_text(o.db(p.part)), db_text(std::min(kEnoughDb, others - kBelowOthers))};
  return std::nullopt;
}

Json part_json(const OutputAccuracy& o, size_t p) {
  const PartError& e = o.parts[p];
  const std::optional<HeldOutPart>& other = o.held_out[p];
  return {{"sqnr_db", finite_or_null(e.db())},
          {"held_out_sqnr_db", other ? finite_or_null(other->db) : Json(nullptr)},
          {"max_abs_error", finite_or_null(e.largest)},
          {"low", finite_or_null(e.expected.low)},
          {"high", finite_or_null(e.expected.high)},
          {"steps", o.steps[p] < 0 ? Json(nullptr) : finite_or_null(o.steps[p])},
          {"constant", e.is_constant()}};
}

}  // namespace

double OutputAccuracy::db(size_t part) const {
  const double seen = parts[part].db();
  return held_out[part] && std::isfinite(seen) ? std::min(seen, held_out[part]->db) : seen;
}

OutputAccuracy output_accuracy(const Graph& g, const Port& port, const OutputError& of_output) {
  OutputAccuracy a;
  a.name = port.name;
  a.is_integer = g.type(port.value).dtype != DType::f32;
  a.rank = port.order.size();
  a.whole = of_output.whole();
  OutputError::Parts parts =
      a.is_integer ? OutputError::Parts{-1, 1, {a.whole}} : of_output.parts(g, port);
  a.axis = parts.axis;
  a.parts = std::move(parts.errors);
  a.steps.assign(a.parts.size(), -1);
  a.held_out.resize(a.parts.size());
  return a;
}

OutputAccuracy output_accuracy(const Compilation& c, size_t output, const OutputError& of_output) {
  OutputAccuracy a = output_accuracy(c.reference, c.reference.outputs[output], of_output);
  const Port& port = c.graph.outputs[output];
  for (size_t p = 0; p < a.parts.size(); ++p) {
    const float step =
        step_of_output(c.graph, port.value, stored_axis(port, a.axis), static_cast<i64>(p));
    if (step > 0) a.steps[p] = reach(a.parts[p]) / static_cast<double>(step);
    if (c.quantization.held_out)
      for (const HeldOutPart& h : c.quantization.held_out->parts)
        if (h.output == static_cast<i32>(output) && h.axis == a.axis &&
            (a.axis < 0 || h.index == static_cast<i64>(p)))
          a.held_out[p] = h;
  }
  return a;
}

std::optional<PartOfOutput> worst_part(const std::vector<OutputAccuracy>& outputs) {
  const std::vector<PartOfOutput> parts = parts_with_numbers(outputs);
  if (parts.size() < 2) return std::nullopt;
  const auto badness = [](const PartOfOutput& p) {
    return std::pair(p.output->parts[p.part].is_constant() ? 0 : 1, p.output->db(p.part));
  };
  return *std::ranges::min_element(parts, {}, badness);
}

// Integers have no dB: how many are equal.
Json output_accuracy_json(const std::vector<OutputAccuracy>& outputs) {
  Json list = Json::array();
  for (const OutputAccuracy& o : outputs) {
    Json json{{"name", o.name}};
    if (o.is_integer) {
      const bool is_known = o.held_out[0] && o.held_out[0]->equal_share >= 0;
      json["equal"] = o.whole.equal, json["count"] = o.whole.count;
      json["held_out_equal_share"] = is_known ? Json(o.held_out[0]->equal_share) : Json(nullptr);
    } else {
      json["sqnr_db"] = finite_or_null(o.whole.db()),
      json["max_abs_error"] = finite_or_null(o.whole.largest);
      json["axis"] = o.axis < 0 ? Json(nullptr) : Json(o.axis);
      json["parts"] = Json::array();
      for (size_t p = 0; p < o.parts.size(); ++p) json["parts"].push_back(part_json(o, p));
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json worst_part_json(const std::vector<OutputAccuracy>& outputs) {
  const auto worst = worst_part(outputs);
  if (!worst) return nullptr;
  Json json{{"name", worst->output->name}, {"axis", nullptr}, {"index", nullptr}};
  if (worst->output->axis >= 0) json["axis"] = worst->output->axis, json["index"] = worst->part;
  json.update(part_json(*worst->output, worst->part));
  return json;
}

std::string name_of(const PartOfOutput& p) {
  return part_name(p.output->name, p.output->rank, p.output->axis, p.part);
}

std::string text_of(const PartOfOutput& p) {
  const OutputAccuracy& o = *p.output;
  const PartError& e = o.parts[p.part];
  std::string text = db_text(e.db());
  if (o.held_out[p.part])
    text += fmt::format(" ({} on other data)", db_text(o.held_out[p.part]->db));
  if (e.is_constant()) text += fmt::format(", always {:.4g}", e.found.low);
  else if (o.steps[p.part] >= 0) text += fmt::format(", {:.0f} steps", o.steps[p.part]);
  return text + fmt::format("; the float model's is {}", range_text(e.expected));
}

std::string text_of_integers(const std::vector<OutputAccuracy>& outputs) {
  std::string text;
  for (const OutputAccuracy& o : outputs) {
    if (!o.is_integer) continue;
    text += fmt::format("{}`{}`: {} of {} equal", text.empty() ? "" : ", ", o.name, o.whole.equal,
                        o.whole.count);
    if (o.held_out[0] && o.held_out[0]->equal_share >= 0)
      text += fmt::format(" ({:.1f} % on other data)", 100 * o.held_out[0]->equal_share);
  }
  return text;
}

std::optional<FewSteps> input_with_few_steps(const Compilation& c, const Samples& samples) {
  std::optional<FewSteps> fewest;
  for (size_t i = 0; i < c.reference.user_inputs().size(); ++i) {
    const Port &reference = c.reference.inputs[i], &port = c.graph.inputs[i];
    if (c.reference.type(reference.value).dtype != DType::f32) continue;
    const Shape shape = logical_shape(reference, c.reference.type(reference.value).shape);
    Axes order(shape.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<i64>(k);
    OutputError seen(shape, order);
    for (const auto& sample : samples) seen.see(sample[i], sample[i]);
    const OutputError::Parts parts = seen.parts(c.reference, reference);
    if (parts.axis < 0) continue;
    const auto widest = std::ranges::max_element(
        parts.errors, {}, [](const PartError& p) { return p.expected.span(); });
    for (size_t p = 0; p < parts.errors.size(); ++p) {
      const float step =
          step_of_input(c.graph, port.value, stored_axis(port, parts.axis), static_cast<i64>(p));
      const PartError::Range& range = parts.errors[p].expected;
      if (step <= 0 || range.span() == 0 ||
          range.span() >= kFewestColumnSteps * static_cast<double>(step))
        continue;
      const double steps = range.span() / static_cast<double>(step);
      if (!fewest || steps < fewest->steps)
        fewest = FewSteps{i, parts.axis, static_cast<i64>(p), steps, range, widest->expected};
    }
  }
  return fewest;
}

void warn_of_parts(const Compilation& c, const std::vector<OutputAccuracy>& outputs,
                   const Samples& samples, Diagnostics& diagnostics) {
  const std::vector<PartOfOutput> parts = parts_with_numbers(outputs);
  for (const OutputAccuracy& o : outputs) {
    std::optional<PartFault> gravest;
    std::string_view advice;
    size_t more = 0;
    for (const PartOfOutput& p : parts) {
      if (p.output != &o) continue;
      const std::optional<PartFault> fault = part_fault_of(p, parts);
      if (!fault) continue;
      if (gravest) ++more;
      else gravest = fault, advice = is_beside_larger(p) ? kOwnStepsAdvice : kUpstreamAdvice;
    }
    if (!gravest) continue;
    if (more > 0)
      gravest->what += fmt::format("; so {} {} more of its parts", more == 1 ? "is" : "are", more);
    diagnostics.add({Severity::warning, c.reference.name, gravest->what, gravest->measured,
                     gravest->limit, gravest->rule, std::string(advice)});
  }
  const auto is_good = [](const PartOfOutput& p) { return p.output->db(p.part) >= kGoodDb; };
  if (std::ranges::all_of(parts, is_good)) return;
  if (const std::optional<FewSteps> few = input_with_few_steps(c, samples)) {
    const Port& port = c.reference.inputs[few->input];
    diagnostics.add(
        {Severity::warning, c.reference.name,
         fmt::format(
             "input {} goes from {}, beside others from {}, and has too few of the input's steps",
             part_name(port.name, port.order.size(), few->axis, static_cast<size_t>(few->index)),
             range_text(few->few), range_text(few->widest)),
         fmt::format("{:.1f}", few->steps), fmt::format("{:.0f}", kFewestColumnSteps),
         "accuracy.input_steps",
         "bring all columns to one size before the model, where its data is made: subtract the "
         "mean and divide by the deviation "
         "there, and leave that out of the model"});
  }
}

}  // namespace deuteron
