#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sonictrace::report {

/// The middle value, or the mean of the two in the middle; 0 of nothing.
double median(std::span<const double> values);

/// The least value that `part` (0 to 1) of all values do not exceed; 0 of nothing.
double quantile(std::span<const double> values, double part);

/// Mann-Whitney U, two-sided: how probable it is that two samples of the same distribution are at
/// least as far apart in their ranks as these. Exact, with ties (which share their mean rank), as
/// long as both have at most 60 values together; the normal approximation beyond. 1 where one of
/// the samples is empty.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// The least p that mann_whitney_p can give for samples of these sizes: 2 / C(n + m, n).
double least_mann_whitney_p(std::size_t n, std::size_t m);

/// Benjamini-Hochberg: for each p the least rate of false discoveries at which it would be one.
std::vector<double> benjamini_hochberg(std::span<const double> p);

/// How far runs of the same thing are apart: 95 % of the |a / b - 1| of all pairs of different
/// values are not above it. 0 of fewer than two values, or where one is not positive.
double noise_floor(std::span<const double> values);

/// Median of ratios (as DESeq's size factors): for each run, the median over the series of the
/// series' value in this run by its geometric mean over all runs. Steady series count for more, by
/// how far they are from their mean, up to twice what one in the middle does: a function that
/// varies by itself says little about the machine. Each series has a value above zero for each run;
/// 1 for each of the runs where there is no series.
std::vector<double> run_scales(std::span<const std::vector<double>> series, std::size_t runs);

} // namespace sonictrace::report
