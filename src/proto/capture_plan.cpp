#include "sonictrace/proto/capture_plan.hpp"

#include <algorithm>
#include <climits>
#include <optional>

namespace sonictrace::proto {
namespace {

using wire::CaptureKind;
using wire::CaptureOp;

/// What to copy of one value; nothing of a hidden one.
std::optional<CaptureOp> op_for(const Parameter& parameter, std::uint8_t argument,
                                std::uint16_t string_limit) {
  CaptureOp op;
  op.argument = argument;
  switch (parameter.lens) {
    case Lens::Void:
    case Lens::Hide: return std::nullopt;
    case Lens::String:
      op.kind = CaptureKind::String;
      op.limit = string_limit;
      break;
    case Lens::Path:
      op.kind = CaptureKind::String;
      // limits.h counts the NUL in PATH_MAX.
      op.limit = std::max<std::uint16_t>(PATH_MAX - 1, string_limit);
      break;
    case Lens::Bytes:
      op.kind = CaptureKind::Bytes;
      op.limit = string_limit;
      break;
    default: op.kind = CaptureKind::Word; break;
  }
  if (op.kind != CaptureKind::Word && parameter.length_argument != 0)
    op.length_argument = static_cast<std::uint8_t>(parameter.length_argument - 1);
  return op;
}

std::uint32_t room_of(const std::vector<CaptureOp>& ops) {
  std::size_t room = 0;
  for (const CaptureOp& op : ops)
    room += wire::capture_room(op);
  return static_cast<std::uint32_t>(room);
}

} // namespace

CapturePlan compile(const Prototype& prototype, std::uint32_t string_limit) {
  const auto limit =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(string_limit, wire::kMaxCaptureLimit));
  CapturePlan plan;
  std::uint8_t argument = 0;
  for (const Parameter& parameter : prototype.parameters) {
    if (const auto op = op_for(parameter, argument, limit)) {
      plan.at_entry.push_back(*op);
      const int last = op->length_argument == wire::kNoLengthArgument
                           ? argument
                           : std::max(argument, op->length_argument);
      plan.argument_words = std::max(plan.argument_words, static_cast<std::uint8_t>(last + 1));
    }
    ++argument;
  }
  // A length given by an argument would have to be remembered from the entry on: not for results.
  Parameter result = prototype.result;
  result.length_argument = 0;
  if (result.lens == Lens::Bytes) result.lens = Lens::Pointer;
  if (const auto op = op_for(result, 0, limit)) plan.at_return.push_back(*op);
  plan.entry_room = room_of(plan.at_entry);
  plan.return_room = room_of(plan.at_return);
  return plan;
}

} // namespace sonictrace::proto
