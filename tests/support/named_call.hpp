#pragma once

#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/decode/json.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

/// The memory of this very process: a wild pointer costs nothing.
struct OwnMemory {
  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) {
    std::size_t done = 0;
    while (done < size) { // a page at a time: what is readable up to a hole
      constexpr std::uint64_t kPage = 4096;
      const std::uint64_t at = address + done;
      const std::size_t piece = std::min<std::size_t>(size - done, kPage - at % kPage);
      iovec local{into + done, piece};
      iovec remote{reinterpret_cast<void*>(at), piece};
      const auto got = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
};

/// Calls of one function, of which only the mangled name is known, with objects of this process.
class NamedCall {
public:
  explicit NamedCall(std::string_view mangled, const proto::PlanOptions& options = {}) {
    library_.read_names();
    const proto::Prototype* const prototype = library_.find(mangled, {});
    is_known = prototype != &proto::Prototype::unknown();
    plan_ = proto::compile(*prototype, options);
    reset();
  }

  /// Not from what ltrace assumes of any function.
  bool is_known = false;

  /// Another call: registers hold what is no pointer.
  NamedCall& reset() {
    entry_.assign(wire::kEntryWords + 8, kNoPointer);
    integers_ = vectors_ = stack_ = 0;
    leave_.assign(wire::kKeptWordsAt / 8, kNoPointer + 1);
    return *this;
  }
  /// The next integer argument; behind the sixth on the stack.
  NamedCall& word(std::uint64_t value) {
    constexpr std::size_t kRegisters = 6;
    entry_[integers_ < kRegisters ? integers_++ : wire::kEntryWords + stack_++] = value;
    return *this;
  }
  template <class Object>
  NamedCall& word(const Object* pointer) {
    return word(reinterpret_cast<std::uint64_t>(pointer));
  }
  template <class Float>
  NamedCall& real(Float value) {
    std::memcpy(&entry_[wire::kVectorWordsAt / 8 + vectors_++], &value, sizeof value);
    return *this;
  }
  NamedCall& returns(std::uint64_t rax) {
    leave_[0] = rax;
    return *this;
  }

  /// As they are shown once it has returned.
  std::string arguments(const ValueStyle& style = {}) {
    std::string out;
    append_arguments(out, plan_, captured_entry(), captured_leave(), ArgumentPart::All, style);
    return out;
  }
  /// As they are shown while it has not.
  std::string open_arguments() {
    std::string out;
    append_arguments(out, plan_, captured_entry(), std::nullopt, ArgumentPart::All, {});
    return out;
  }
  std::string json() {
    std::string out;
    json_arguments(out, plan_, captured_entry(), std::nullopt, {});
    return out;
  }
  std::string result() {
    std::string out;
    append_result(out, plan_, captured_leave(), {});
    return out;
  }
  std::vector<std::byte> captured_entry() { return captured_entry(plan_.entry_room); }
  std::vector<std::byte> captured_entry(std::size_t room) {
    return captured(plan_.at_entry, entry_, room);
  }
  std::vector<std::byte> captured_leave() {
    return captured(plan_.at_return, leave_, plan_.return_room);
  }
  const proto::CallPlan& plan() const { return plan_; }

  static constexpr std::uint64_t kNoPointer = 0x0123456789abcdef;

private:
  static std::vector<std::byte> captured(const std::vector<wire::CaptureOp>& ops,
                                         const std::vector<std::uint64_t>& words,
                                         std::size_t room) {
    OwnMemory memory;
    std::vector<std::byte> out(room);
    const wire::CallWords call = {words.data(), static_cast<std::uint32_t>(words.size() * 8),
                                  wire::kStackWordsAt, 0};
    out.resize(wire::run_capture(ops.data(), ops.size(), call, memory, out.data(), room));
    return out;
  }

  proto::PrototypeLibrary library_;
  proto::CallPlan plan_;
  std::vector<std::uint64_t> entry_, leave_;
  std::size_t integers_ = 0, vectors_ = 0, stack_ = 0;
};

} // namespace sonictrace
