#include "report/profile_noise.hpp"

#include <algorithm>
#include <iterator>

#include "sonictrace/report/statistics.hpp"

namespace sonictrace::report {

std::vector<std::vector<double>> for_run_scale(std::vector<std::vector<double>> large,
                                               std::vector<std::vector<double>> small) {
  if (large.size() >= kLeastForScale) return large;
  large.insert(large.end(), std::make_move_iterator(small.begin()),
               std::make_move_iterator(small.end()));
  if (large.size() < kLeastForScale) large.clear();
  return large;
}

std::vector<double> noise_of(const Profile& profile) {
  std::vector<std::vector<double>> large, small;
  const auto all_ns = static_cast<double>(profile.self_ns());
  for (const auto& function : profile.functions()) {
    if (function.call_class != CallClass::Cpu) continue;
    std::vector<double> times;
    for (const auto& run : function.runs)
      times.push_back(run.typical_ns);
    if (std::any_of(times.begin(), times.end(), [](double time) { return !(time > 0); })) continue;
    const bool is_large = static_cast<double>(function.all.self_ns) >= kLeastShare * all_ns;
    (is_large ? large : small).push_back(std::move(times));
  }
  const auto scales =
      run_scales(for_run_scale(std::move(large), std::move(small)), profile.runs().size());
  std::vector<double> noise;
  for (const auto& function : profile.functions()) {
    const bool waits = function.call_class == CallClass::Wait;
    std::vector<double> times;
    for (std::size_t i = 0; i < function.runs.size(); ++i) {
      const auto& run = function.runs[i];
      times.push_back(waits ? run.typical_ns
                            : run.typical_ns * static_cast<double>(run.calls) / scales[i]);
    }
    noise.push_back(noise_floor(times));
  }
  return noise;
}

} // namespace sonictrace::report
