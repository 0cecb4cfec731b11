#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

/// The result word of a Return record, where its plan captures it as a plain value. What is smaller
/// than a word counts as signed: it is asked of system calls, whose errors are negative.
inline std::optional<std::int64_t> result_value(const proto::CallPlan& plan,
                                                std::span<const std::byte> leave) {
  if (plan.result.return_steps == 0) return std::nullopt;
  if (plan.at_return[plan.result.return_begin].kind != wire::CaptureKind::Value)
    return std::nullopt;
  wire::FieldHeader header;
  if (leave.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, leave.data(), sizeof header);
  const auto value = leave.subspan(sizeof header);
  if (header.state != wire::FieldState::Whole || value.size() < header.size) return std::nullopt;
  if (header.size == sizeof(std::int64_t)) {
    std::int64_t word = 0;
    std::memcpy(&word, value.data(), sizeof word);
    return word;
  }
  if (header.size == sizeof(std::int32_t)) {
    std::int32_t half = 0;
    std::memcpy(&half, value.data(), sizeof half);
    return half;
  }
  return std::nullopt;
}

} // namespace sonictrace
