#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sonictrace/base/result.hpp"
#include "sonictrace/report/profile.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

constexpr std::uint64_t kFingerprintVersion = 1;

/// What a version of a program does, kept: the runs of it, and what they were made with.
struct Fingerprint {
  std::map<std::string, std::string> parameters; ///< --param NAME=VALUE
  std::string machine;
  std::string tool; ///< `sonicreport 0.1.0`
  Profile profile;
};

/// JSON. The same fingerprint gives the same bytes.
std::string to_json(const Fingerprint& one);

/// Whether a file begins as a fingerprint does.
bool is_fingerprint(std::string_view beginning);

/// Fails with one line that begins with `name`.
Result<Fingerprint> parse_fingerprint(std::string_view text, const std::string& name);

/// `Linux 6.1.0 x86_64, AMD EPYC 7B13, 2 cores`: where this process runs.
std::string this_machine();

} // namespace sonictrace::report
