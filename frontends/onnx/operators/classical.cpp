// SPDX-License-Identifier: Apache-2.0
// Linear models and what is done to features, as scikit-learn's converter writes them (ai.onnx.ml).
#include "frontends/onnx/operators/classical.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"

namespace deuteron::onnx {
namespace {

constexpr size_t kNamedLabels = 6;  // in a note; the rest are counted

// Labels of classes: integers, or texts of which the program has the positions.
std::vector<i64> labels_of(Call& c, size_t classes) {
  std::vector<i64> labels = c.integers("classlabels_ints");
  if (labels.empty()) labels = c.integers("classlabels_int64s");
  const std::vector<std::string> texts = texts_listed(c, "classlabels_strings");
  if (labels.empty() || !texts.empty()) {
    labels.clear();
    for (size_t k = 0; k < classes; ++k) labels.push_back(static_cast<i64>(k));
  }
  c.require(!c.ok() || (labels.size() == classes && (texts.empty() || texts.size() == classes)),
            "has labels that do not fit the classes",
            std::to_string(std::max(labels.size(), texts.size())), std::to_string(classes),
            "onnx.classes.labels");
  if (texts.empty() || !c.ok() || !c.wants(0)) return labels;
  std::string named;
  for (size_t k = 0; k < std::min(texts.size(), kNamedLabels); ++k)
    named += fmt::format("{}{} = `{}`", k > 0 ? ", " : "", k, texts[k]);
  c.state().note(
      fmt::format("labels are texts in the model; the program gives their positions: {}{}", named,
                  texts.size() > kNamedLabels
                      ? fmt::format(" and {} more", texts.size() - kNamedLabels)
                      : ""),
      "onnx.classes.labels");
  return labels;
}

}  // namespace

std::vector<float> numbers_listed(Call& c, std::string_view name) {
  const Attribute* a = c.attribute(name);
  return a && c.ok() ? a->reals : std::vector<float>();
}
std::vector<std::string> texts_listed(Call& c, std::string_view name) {
  const Attribute* a = c.attribute(name);
  return a && c.ok() ? a->texts : std::vector<std::string>();
}

Operand feature_rows(Call& c, const Operand& x) {
  const Operand real = c.ok() && c.dtype(x) != DType::f32 ? converted(c, x, DType::f32, "real") : x;
  c.require(!c.ok() || c.rank(x) == 1 || c.rank(x) == 2, "takes rows of features",
            c.ok() ? to_text(c.shape(x)) : "", "[n, features]", "onnx.features.rank");
  return c.ok() && c.rank(x) == 1 ? view(c, real, {1, c.shape(x)[0]}, "row") : real;
}

Operand transformed(Call& c, const Operand& scores, std::string_view suffix) {
  const std::string transform = c.text("post_transform", "NONE");
  const bool is_known = transform == "NONE" || transform == "SOFTMAX" || transform == "LOGISTIC";
  c.require(is_known, "transforms its scores in a way that is not supported", transform,
            "NONE, SOFTMAX, LOGISTIC", "onnx.classes.transform");
  if (!c.ok() || transform == "NONE") return scores;
  if (transform == "LOGISTIC") return c.torch("aten.sigmoid.default", {{"self", scores}}, suffix);
  return c.torch("aten.softmax.int", {{"self", scores}, {"dim", c.rank(scores) - 1}}, suffix);
}

static Operand with_labels(Call& c, const Operand& at, const std::vector<i64>& labels) {
  bool is_position = true;
  for (size_t k = 0; k < labels.size(); ++k)
    is_position = is_position && labels[k] == static_cast<i64>(k);
  if (is_position || !c.ok()) return at;
  const Operand table =
      c.known("labels", {DType::s64, {static_cast<i64>(labels.size()), 1}, {}}, labels);
  Shape shape = c.shape(at);
  shape.push_back(1);
  return view(c, looked_up(c, table, at, shape, "label"), c.shape(at), "");
}

static Operand label_position(Call& c, const Operand& scores, TwoClasses two, double bound) {
  if (!c.ok()) return {};
  const Shape s = c.shape(scores);
  if (two == TwoClasses::no) return position_of_largest(c, scores, 1, false, {s[0]}, "at");
  const Operand second = two == TwoClasses::both ? sliced(c, scores, 1, 1, 2, 1, "second") : scores;
  const Operand is_second = c.torch_as("aten.gt.Scalar", {{"self", second}, {"other", bound}},
                                       DType::b8, {s[0], 1}, "is_second");
  return view(c, converted(c, is_second, DType::s64, "position"), {s[0]}, "at");
}

void finish_classes(Call& c, const Operand& scores, TwoClasses two, double bound) {
  if (!c.ok()) return;
  const bool has_one = two == TwoClasses::one_less || two == TwoClasses::negative;
  const std::vector<i64> labels =
      labels_of(c, static_cast<size_t>(has_one ? 2 : c.shape(scores)[1]));
  if (c.wants(0)) c.result(0, with_labels(c, label_position(c, scores, two, bound), labels));
  if (!c.wants(1)) return;
  if (!has_one) return c.result(1, transformed(c, scores, "scores"));
  const Operand negative = c.torch("aten.neg.default", {{"self", scores}}, "negative");
  if (two == TwoClasses::one_less)
    return c.result(1, joined(c, {shifted(c, negative, 1, "first"), scores}, 1, "scores"));
  c.result(1, joined(c, {transformed(c, negative, "first"), transformed(c, scores, "last")}, 1,
                     "scores"));
}

namespace {

// One number for each feature, or one for all.
Operand by_feature(Call& c, const Operand& x, std::string_view name, float otherwise) {
  std::vector<float> v = numbers_listed(c, name);
  if (v.empty()) v = {otherwise};
  const Shape shape = c.shape(x);
  c.require(
      !c.ok() || v.size() == 1 || (!shape.empty() && static_cast<i64>(v.size()) == shape.back()),
      fmt::format("attribute `{}` does not have a number for each feature", name),
      std::to_string(v.size()), to_text(shape), "onnx.features.count");
  for (const float f : v)
    c.require(std::isfinite(f), fmt::format("attribute `{}` is not finite", name),
              std::to_string(f), "", "onnx.attribute.finite");
  return c.ok() ? c.numbers(name, {static_cast<i64>(v.size())}, v) : Operand{};
}

// Weights [targets, features] of as many numbers, and a bias.
Operand linear_scores(Call& c, i64 targets, std::string_view suffix) {
  const Operand x = feature_rows(c, c.operand(0));
  const std::vector<float> w = numbers_listed(c, "coefficients"),
                           b = numbers_listed(c, "intercepts");
  const i64 features = c.ok() ? c.shape(x)[1] : 1;
  c.require(!c.ok() || (targets >= 1 && static_cast<i64>(w.size()) == targets * features),
            "has coefficients that do not fit the features", std::to_string(w.size()),
            fmt::format("{} x {}", targets, features), "onnx.features.count");
  c.require(!c.ok() || b.empty() || static_cast<i64>(b.size()) == targets,
            "has intercepts that do not fit the coefficients", std::to_string(b.size()),
            std::to_string(targets), "onnx.features.count");
  const auto is_finite = [](float v) { return std::isfinite(v); };
  c.require(std::ranges::all_of(w, is_finite) && std::ranges::all_of(b, is_finite),
            "has coefficients that are not finite", "", "", "onnx.attribute.finite");
  if (!c.ok()) return {};
  const Operand weight = c.numbers("weight", {targets, features}, w);
  return fully_connected(c, x, weight, b.empty() ? Operand{} : c.numbers("bias", {targets}, b),
                         suffix);
}

}  // namespace

static void import_linear_regressor(Call& c) {
  const bool plain = c.text("post_transform", "NONE") == "NONE";
  c.result(transformed(c, linear_scores(c, c.integer("targets", 1), plain ? "" : "sums"), ""));
}

// ONNX Runtime completes the score of one row of coefficients to those of two classes: LOGISTIC to
// those of -s and s, else to 1 - s and s.
static void import_linear_classifier(Call& c) {
  const std::vector<float> intercepts = numbers_listed(c, "intercepts");
  const Shape s = c.shape(c.operand(0));
  const i64 features = s.empty() ? 1 : s.back();
  const i64 targets =
      intercepts.empty()
          ? static_cast<i64>(numbers_listed(c, "coefficients").size()) / std::max<i64>(features, 1)
          : static_cast<i64>(intercepts.size());
  const Operand scores = linear_scores(c, targets, "sums");
  const bool is_logistic = c.text("post_transform", "NONE") == "LOGISTIC";
  finish_classes(c, scores,
                 targets > 1   ? TwoClasses::no
                 : is_logistic ? TwoClasses::negative
                               : TwoClasses::one_less,
                 0);
}

// (x - offset) * scale
static void import_scaler(Call& c) {
  Operand x = c.operand(0);
  if (c.ok() && c.dtype(x) != DType::f32) x = converted(c, x, DType::f32, "real");
  c.result(product(c, difference(c, x, by_feature(c, x, "offset", 0), "centered"),
                   by_feature(c, x, "scale", 1), ""));
}

// Each row divided by its norm; as ONNX Runtime has it, MAX is the largest element, whatever its
// sign, and a row of zeros stays.
static void import_normalizer(Call& c) {
  Operand x = c.operand(0);
  if (c.ok() && c.dtype(x) != DType::f32) x = converted(c, x, DType::f32, "real");
  const std::string norm = c.text("norm", "MAX");
  c.require(norm == "MAX" || norm == "L1" || norm == "L2", "normalizes by another norm", norm,
            "MAX, L1, L2", "onnx.norm.p");
  const i64 last = c.rank(x) - 1;
  if (norm != "MAX") return c.result(divided_by_norm(c, x, last, norm == "L1" ? 1 : 2, ""));
  const Operand largest = c.torch("aten.amax.default", over_axes(x, {last}, true), "largest");
  c.result(c.torch("aten.div.Tensor", {{"self", x}, {"other", largest}}));
}

static void import_binarizer(Call& c) {
  const Operand x = c.operand(0);
  const Operand above =
      c.torch_as("aten.gt.Scalar", {{"self", x}, {"other", c.number("threshold", 0)}}, DType::b8,
                 c.shape(x), "above");
  c.result(converted(c, above, DType::f32, ""));
}

static void import_feature_vectorizer(Call& c) {
  std::vector<Operand> parts;
  for (size_t k = 0; k < c.operands(); ++k) parts.push_back(feature_rows(c, c.operand(k)));
  c.require(!c.ok() || !parts.empty(), "joins nothing", "0", "1", "onnx.operand.missing");
  if (c.ok()) c.result(parts.size() == 1 ? parts[0] : joined(c, parts, 1, ""));
}

// Elements along the last axis, by known or computed positions.
static void import_array_feature_extractor(Call& c) {
  const Operand x = c.operand(0), index = c.operand(1);
  const Shape s = c.shape(x);
  c.require(!c.ok() || !s.empty(), "picks from a tensor without axes", "0", "1",
            "onnx.operand.axis");
  if (!c.ok()) return;
  const i64 last = static_cast<i64>(s.size()) - 1, count = numel(c.shape(index));
  const auto positions = c.known_integers(index);
  if (positions) {
    for (const i64 p : *positions)
      c.require(p >= 0 && p < s.back(), "an index lies outside the axis", std::to_string(p),
                std::to_string(s.back() - 1), "onnx.gather.range");
    if (!c.ok()) return;
    const Operand y = picked(c, x, last, *positions, last == 0 ? "picked" : "");
    return c.result(last == 0 ? view(c, y, {1, count}, "") : y);
  }
  const bool is_list = numel(s) == s.back();
  c.require(is_list, "picks by computed positions from several rows", to_text(s), "one row",
            "onnx.gather.positions");
  const Operand table = view(c, x, {s.back(), 1}, "table");
  const Operand flat = view(c, as_index(c, index, s.back()), {count}, "positions");
  c.result(view(c, looked_up(c, table, flat, {count, 1}, "picked"), {1, count}, ""));
}

// A map from names to scores becomes the scores.
static void import_zip_map(Call& c) {
  c.state().note(
      "a ZipMap makes maps of scores; the program gives the scores as a tensor, in the order of "
      "the classes",
      "onnx.classes.map");
  c.result(c.operand(0));
}

namespace {

// Keys and values of a LabelEncoder that are numbers.
std::vector<double> entries(Call& c, const std::string& kind, bool* whole) {
  std::vector<i64> integers = c.integers(kind + "_int64s");
  *whole = !integers.empty();
  if (*whole) return {integers.begin(), integers.end()};
  const std::vector<float> reals = numbers_listed(c, kind + "_floats");
  return {reals.begin(), reals.end()};
}

}  // namespace

// The value of the first key that the element is: the keys' hits along a new axis say where it lies
// in the table.
static void import_label_encoder(Call& c) {
  const Operand x = c.operand(0);
  bool whole_keys = false, whole_values = false;
  const std::vector<double> keys = entries(c, "keys", &whole_keys),
                            values = entries(c, "values", &whole_values);
  c.require(!c.ok() || (!keys.empty() && keys.size() == values.size()),
            "takes keys and values that are numbers, as many of each",
            fmt::format("{} keys, {} values", keys.size(), values.size()),
            "keys_int64s or keys_floats, values likewise", "onnx.labels.keys");
  if (!c.ok()) return;
  const i64 n = static_cast<i64>(keys.size());
  Shape column = c.shape(x), wide = column;
  column.push_back(1), wide.push_back(n);
  const Operand each = whole_keys ? c.known("keys", {DType::s64, {n}, {}},
                                            std::vector<i64>(keys.begin(), keys.end()))
                                  : c.numbers("keys", {n}, {keys.begin(), keys.end()});
  const Operand hits =
      c.torch_as("aten.eq.Tensor", {{"self", view(c, x, column, "column")}, {"other", each}},
                 DType::b8, wide, "hits");
  const Operand any = c.torch_as("aten.any.dim", {{"self", hits}, {"dim", -1}, {"keepdim", false}},
                                 DType::b8, c.shape(x), "known");
  const Operand marks = converted(c, hits, DType::f32, "marks");
  const Operand at = position_of_largest(c, marks, -1, false, c.shape(x), "at");
  const DType to = whole_values ? DType::s64 : DType::f32;
  const Operand table = whole_values ? c.known("values", {to, {n, 1}, {}},
                                               std::vector<i64>(values.begin(), values.end()))
                                     : c.numbers("values", {n, 1}, {values.begin(), values.end()});
  const Operand found = view(c, looked_up(c, table, at, column, "rows"), c.shape(x), "found");
  const Operand otherwise =
      whole_values
          ? c.known("default", {to, {}, {}}, {c.integer("default_int64", -1)})
          : c.numbers("default", {}, {static_cast<float>(c.number("default_float", -0.0))});
  c.result(chosen(c, any, found, otherwise, c.shape(x), ""));
}

static constexpr ImportRow kClassicalRows[] = {
    {"ArrayFeatureExtractor", import_array_feature_extractor, kClassical},
    {"Binarizer", import_binarizer, kClassical},
    {"FeatureVectorizer", import_feature_vectorizer, kClassical},
    {"LabelEncoder", import_label_encoder, kClassical},
    {"LinearClassifier", import_linear_classifier, kClassical},
    {"LinearRegressor", import_linear_regressor, kClassical},
    {"Normalizer", import_normalizer, kClassical},
    {"Scaler", import_scaler, kClassical},
    {"ZipMap", import_zip_map, kClassical},
};
ImportRows classical_rows() { return kClassicalRows; }

}  // namespace deuteron::onnx
