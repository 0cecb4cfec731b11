#pragma once

#include <vector>

#include "sonictrace/report/profile.hpp"

namespace sonictrace::report {

/// For each function of the profile how far its runs are apart, without their speed: the noise
/// floor of comparisons with it.
std::vector<double> noise_of(const Profile& profile);

/// Those of the series by which the speed of runs is told: the large ones, or all where there are
/// too few of those; none where there are too few at all.
std::vector<std::vector<double>> for_run_scale(std::vector<std::vector<double>> large,
                                               std::vector<std::vector<double>> small);

constexpr std::size_t kLeastForScale = 3; ///< series: of fewer, one that changed is the scale
constexpr double kLeastShare = 0.01;      ///< of all time, for a function's time to be judged

} // namespace sonictrace::report
