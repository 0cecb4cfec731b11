#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/decode/json.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "sonictrace/wire/capture.hpp"
#include "support/fake_memory.hpp"

namespace sonictrace {

/// One call of the function `f` of a .conf text, in words and a memory that the test fills;
/// captured by the plan, and shown.
class CapturedCall {
public:
  explicit CapturedCall(std::string_view conf, proto::PlanOptions options = {}) {
    EXPECT_EQ(library_.add(conf, "test.conf"), std::vector<std::string>{});
    plan = proto::compile(*library_.find("f", {}), options);
    entry.resize(wire::kEntryWords + 64);
    leave.resize(wire::kKeptWordsAt / 8);
  }

  proto::CallPlan plan;
  FakeMemory memory;
  std::vector<std::uint64_t> entry; ///< words at the entry
  std::vector<std::uint64_t> leave; ///< those at the return that are not kept from the entry

  /// Arguments that go into the integer registers, and on the stack.
  CapturedCall& integers(const std::vector<std::uint64_t>& arguments) {
    constexpr std::size_t kRegisters = 6;
    for (std::size_t at = 0; at < arguments.size(); ++at)
      entry[at < kRegisters ? at : wire::kEntryWords + at - kRegisters] = arguments[at];
    return *this;
  }
  /// An argument in xmm0 and so on.
  CapturedCall& vector(std::size_t number, const void* bytes, std::size_t size) {
    std::memcpy(&entry[wire::kVectorWordsAt / 8 + number], bytes, size);
    return *this;
  }
  CapturedCall& vector(std::size_t number, double value) {
    return vector(number, &value, sizeof value);
  }
  CapturedCall& returns(std::uint64_t rax) {
    leave[0] = rax;
    return *this;
  }

  std::vector<std::byte> captured_entry() { return captured_entry(plan.entry_room); }
  std::vector<std::byte> captured_entry(std::size_t room) {
    return run(plan.at_entry, {entry.data(), bytes_of(entry), wire::kStackWordsAt, 0}, room);
  }
  std::vector<std::byte> captured_leave() { return captured_leave(plan.return_room); }
  std::vector<std::byte> captured_leave(std::size_t room) {
    std::vector<std::uint64_t> words = leave;
    words.insert(words.end(), entry.begin(), entry.end());
    constexpr std::uint32_t kStackAt = wire::kKeptWordsAt + wire::kStackWordsAt;
    return run(plan.at_return, {words.data(), bytes_of(words), kStackAt, 0}, room);
  }

  /// As they are shown once it has returned.
  std::string arguments(const ValueStyle& style = {}, ArgumentPart part = ArgumentPart::All) {
    std::string out;
    append_arguments(out, plan, captured_entry(), captured_leave(), part, style);
    return out;
  }
  /// As they are shown of a call that does not.
  std::string open_arguments(const ValueStyle& style = {}, ArgumentPart part = ArgumentPart::All) {
    std::string out;
    append_arguments(out, plan, captured_entry(), std::nullopt, part, style);
    return out;
  }
  std::string result(const ValueStyle& style = {}) {
    std::string out;
    append_result(out, plan, captured_leave(), style);
    return out;
  }
  std::string arguments_as_json(const ValueStyle& style = {}) {
    std::string out;
    json_arguments(out, plan, captured_entry(), captured_leave(), style);
    return out;
  }
  std::string result_as_json(const ValueStyle& style = {}) {
    std::string out;
    json_result(out, plan, captured_leave(), style);
    return out;
  }

private:
  static std::uint32_t bytes_of(const std::vector<std::uint64_t>& words) {
    return static_cast<std::uint32_t>(words.size() * sizeof words[0]);
  }

  std::vector<std::byte> run(const std::vector<wire::CaptureOp>& ops, const wire::CallWords& words,
                             std::size_t room) {
    std::vector<std::byte> out(room);
    out.resize(wire::run_capture(ops.data(), ops.size(), words, memory, out.data(), room));
    return out;
  }

  proto::PrototypeLibrary library_;
};

constexpr ValueStyle kLtraceStyle = {32, true, true};

} // namespace sonictrace
