#include "sonictrace/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "sonictrace/base/check.hpp"

namespace sonictrace::report {
namespace {

constexpr std::size_t kMostForExact = 60;

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

/// Twice the rank of each value among all: whole numbers, also where ties share a mean rank.
std::vector<std::uint64_t> doubled_ranks(std::span<const double> values) {
  const auto in_order = sorted(values);
  std::vector<std::uint64_t> ranks;
  for (const double value : values) {
    const auto [first, last] = std::equal_range(in_order.begin(), in_order.end(), value);
    // Ranks first + 1 ... last: their mean, twice.
    ranks.push_back(
        static_cast<std::uint64_t>((first - in_order.begin()) + 1 + (last - in_order.begin())));
  }
  return ranks;
}

/// Of all choices of `chosen` ranks, the part whose sum is at least as far from the mean of all
/// such sums as `observed`. Counts them by their sums: ways[k][s] of k ranks that add up to s.
double exact_p(const std::vector<std::uint64_t>& ranks, std::size_t chosen,
               std::uint64_t observed) {
  const auto all = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
  const std::size_t sums = all + 1;
  std::vector<double> ways((chosen + 1) * sums);
  ways[0] = 1;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t k = std::min(i + 1, chosen); k > 0; --k)
      for (std::size_t s = ranks[i]; s < sums; ++s)
        ways[k * sums + s] += ways[(k - 1) * sums + s - ranks[i]];
  // Times the number of ranks, the mean is a whole number.
  const auto distance = [&](std::uint64_t sum) {
    const auto scaled = static_cast<std::int64_t>(sum * ranks.size());
    return std::abs(scaled - static_cast<std::int64_t>(all * chosen));
  };
  double total = 0;
  double extreme = 0;
  for (std::size_t s = 0; s < sums; ++s) {
    const double count = ways[chosen * sums + s];
    total += count;
    if (distance(s) >= distance(observed)) extreme += count;
  }
  return extreme / total;
}

double normal_p(const std::vector<std::uint64_t>& ranks, std::size_t chosen,
                std::uint64_t observed) {
  const auto n = static_cast<double>(ranks.size());
  const auto k = static_cast<double>(chosen);
  const double mean = std::accumulate(ranks.begin(), ranks.end(), 0.0) / n;
  double variance = 0;
  for (const auto rank : ranks)
    variance += (static_cast<double>(rank) - mean) * (static_cast<double>(rank) - mean);
  // Of a sum of k ranks drawn without putting back.
  variance *= k * (n - k) / (n * (n - 1));
  if (variance <= 0) return 1; // all values are the same
  // One step of a doubled rank sum is 2: half of it is 1.
  const double away = std::max(0.0, std::abs(static_cast<double>(observed) - k * mean) - 1);
  return std::erfc(away / std::sqrt(2 * variance));
}

struct Weighted {
  double value = 0;
  double weight = 1;
};

/// The value below and above which there is half of the weight; between two where both are.
double weighted_median(std::vector<Weighted>& values) {
  std::sort(values.begin(), values.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double half = 0;
  for (const auto& one : values)
    half += one.weight / 2;
  double below = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    below += values[i].weight;
    if (below > half * (1 + 1e-12)) return values[i].value;
    if (below >= half * (1 - 1e-12) && i + 1 < values.size())
      return (values[i].value + values[i + 1].value) / 2;
  }
  return values.empty() ? 0 : values.back().value;
}

} // namespace

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  const auto in_order = sorted(values);
  const auto middle = in_order.size() / 2;
  if (in_order.size() % 2 == 1) return in_order[middle];
  return (in_order[middle - 1] + in_order[middle]) / 2;
}

double quantile(std::span<const double> values, double part) {
  if (values.empty()) return 0;
  const auto in_order = sorted(values);
  const auto count = static_cast<double>(in_order.size());
  const auto place = static_cast<std::size_t>(std::ceil(count * std::clamp(part, 0.0, 1.0)));
  return in_order[place == 0 ? 0 : place - 1];
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<double> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  const auto ranks = doubled_ranks(both);
  const auto observed = std::accumulate(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(a.size()), std::uint64_t{0});
  const double p = both.size() <= kMostForExact ? exact_p(ranks, a.size(), observed)
                                                : normal_p(ranks, a.size(), observed);
  return std::min(p, 1.0);
}

double least_mann_whitney_p(std::size_t n, std::size_t m) {
  double choices = 1; // C(n + m, n)
  for (std::size_t i = 1; i <= n; ++i)
    choices = choices * static_cast<double>(m + i) / static_cast<double>(i);
  return std::min(1.0, 2 / choices);
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [p](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> q(p.size());
  double least = 1;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const auto at = order[rank - 1];
    least = std::min(least, p[at] * static_cast<double>(p.size()) / static_cast<double>(rank));
    q[at] = least;
  }
  return q;
}

double noise_floor(std::span<const double> values) {
  std::vector<double> apart;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (values[j] <= 0) return 0;
      if (i != j) apart.push_back(std::abs(values[i] / values[j] - 1));
    }
  return quantile(apart, 0.95);
}

std::vector<double> run_scales(std::span<const std::vector<double>> series, std::size_t runs) {
  if (series.empty()) return std::vector<double>(runs, 1.0);
  constexpr double kExact = 0.005;         // no series is known better
  std::vector<std::vector<double>> ratios; // of each series
  std::vector<double> weights;
  for (const auto& one : series) {
    SONICTRACE_CHECK(one.size() == runs, "a series has a value for each run");
    double logs = 0;
    for (const double value : one) {
      SONICTRACE_CHECK(value > 0, "a series has values above zero");
      logs += std::log(value);
    }
    const double mean = std::exp(logs / static_cast<double>(runs));
    auto& ratio = ratios.emplace_back();
    std::vector<double> apart;
    for (const double value : one) {
      ratio.push_back(value / mean);
      apart.push_back(std::abs(std::log(value / mean)));
    }
    weights.push_back(1 / (median(apart) + kExact));
  }
  const double most = 2 * median(weights);
  for (double& weight : weights)
    weight = std::min(weight, most);
  std::vector<double> scales;
  std::vector<Weighted> of_run(series.size());
  for (std::size_t run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < series.size(); ++i)
      of_run[i] = {ratios[i][run], weights[i]};
    scales.push_back(weighted_median(of_run));
  }
  return scales;
}

} // namespace sonictrace::report
