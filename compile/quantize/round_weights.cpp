// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/round_weights.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Cholesky>
#include <numeric>

namespace deuteron {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

float scale_of(const Quant& q, i64 filter) {
  return q.scale[q.per_channel() ? static_cast<size_t>(filter) : 0];
}

Matrix covariance(const InputMoments& m, i64 group) {
  const Eigen::Map<const Matrix> products(m.products.data() + group * m.terms * m.terms, m.terms,
                                          m.terms);
  const Eigen::Map<const Eigen::VectorXd> sum(m.sum.data() + group * m.terms, m.terms);
  const double count = static_cast<double>(m.windows);
  Matrix c = products / count - sum / count * (sum / count).transpose();
  const double own = c.diagonal().mean();
  c.diagonal().array() += own > 0 ? kMomentsDamping * own : 1;
  return c;
}

// The inputs that vary most come last in the factor and are rounded first, while others are left to
// make up for them.
std::vector<i64> by_variance(const Matrix& c) {
  std::vector<i64> order(static_cast<size_t>(c.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return c(a, a) < c(b, b); });
  return order;
}

// The nearest of the steps that a weight can have; of four bits those of its factor.
double steps_of(double wanted, const Quant& q, i32 factor) {
  const Int4Range range = factor > 0 ? int4_range(factor)
                                     : Int4Range{static_cast<i32>(q.low), static_cast<i32>(q.high)};
  const double unit = factor > 0 ? factor : 1;
  return range.nearest(wanted / unit) * unit;
}

}  // namespace

std::vector<int8_t> round_weights(std::span<const float> weight, const Quant& q,
                                  const InputMoments& m, const Int4Factors* int4) {
  const i64 filters = static_cast<i64>(weight.size()) / m.terms, each = filters / m.groups;
  std::vector<int8_t> rounded(weight.size());
  for (i64 group = 0; group < m.groups; ++group) {
    const Matrix c = covariance(m, group);
    const std::vector<i64> order = by_variance(c);
    Matrix sorted(m.terms, m.terms);
    for (i64 i = 0; i < m.terms; ++i)
      for (i64 j = 0; j < m.terms; ++j) sorted(i, j) = c(order[i], order[j]);
    const Matrix factor = Eigen::LLT<Matrix>(sorted).matrixL();
    Matrix carried = Matrix::Zero(
        m.terms, each);  // by term and filter: what later terms' errors ask of this one
    Eigen::RowVectorXd error(each);
    for (i64 i = m.terms - 1; i >= 0; --i) {
      for (i64 f = 0; f < each; ++f) {
        const i64 filter = group * each + f, at = filter * m.terms + order[i];
        const double scale = scale_of(q, filter),
                     wanted = weight[at] + carried(i, f) / factor(i, i);
        const double steps = steps_of(wanted / scale, q, int4 ? int4->of(filter, order[i]) : 0);
        rounded[at] = static_cast<int8_t>(steps);
        error(f) = weight[at] - steps * scale;
      }
      carried.topRows(i).noalias() += factor.row(i).head(i).transpose() * error;
    }
  }
  return rounded;
}

std::vector<float> mean_loss(std::span<const float> weight, std::span<const int8_t> rounded,
                             const Quant& q, const InputMoments& m) {
  const i64 filters = static_cast<i64>(weight.size()) / m.terms, each = filters / m.groups;
  std::vector<float> loss;
  for (i64 filter = 0; filter < filters; ++filter) {
    double sum = 0;
    for (i64 t = 0; t < m.terms; ++t) {
      const i64 at = filter * m.terms + t;
      sum += (weight[at] - static_cast<double>(scale_of(q, filter)) * rounded[at]) *
             m.sum[filter / each * m.terms + t];
    }
    loss.push_back(static_cast<float>(sum / static_cast<double>(m.windows)));
  }
  return loss;
}

const std::vector<int8_t>& RoundedWeights::of(std::span<const float> weight, const Quant& quant,
                                              const InputMoments& moments,
                                              const Int4Factors* int4) {
  auto& known = known_[&moments];
  const std::optional<Int4Factors> factors = int4 ? std::optional(*int4) : std::nullopt;
  for (const Known& k : known)
    if (k.quant == quant && k.int4 == factors) return k.rounded;
  known.push_back({quant, factors, round_weights(weight, quant, moments, int4)});
  return known.back().rounded;
}

}  // namespace deuteron
