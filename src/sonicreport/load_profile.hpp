#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonicreport/common_options.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/report/fingerprint.hpp"
#include "sonictrace/report/profile.hpp"

namespace sonictrace::sonicreport {

/// Runs of one version, and what was said about how they were read.
struct LoadedProfile {
  report::Profile profile;
  std::vector<report::Fingerprint> fingerprints; ///< without their profiles
  int status = 0;                                ///< as of CommonOptions::judge
};

/// Reads logs, and fingerprints (by their first bytes) in place of logs. Several logs are read at
/// the same time, as many as --jobs. `hash`: of logs, their SHA-256.
Result<LoadedProfile> load_profile(const std::vector<std::string>& paths,
                                   const CommonOptions& options, bool hash);

} // namespace sonictrace::sonicreport
