#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sonictrace/arch/registers.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/process/tracee_memory.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

/// The tracee's memory as the capture interpreter wants it. While a plan runs the thread is stopped,
/// so small reads that lie close together are served by one.
class CaptureMemory {
public:
  explicit CaptureMemory(const TraceeMemory& memory) : memory_(memory) {}

  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size);

private:
  static constexpr std::size_t kWindow = 256; ///< divides a page

  const TraceeMemory& memory_;
  std::uint64_t window_ = 1; ///< address of what is kept; an odd one: nothing
  std::array<std::byte, kWindow> bytes_;
};

/// What a call begins with, in the numbering of wire/capture.hpp.
struct EntryWords {
  std::array<std::uint64_t, wire::kEntryWords> words{};
  TraceeAddress stack; ///< of the first stack argument; 0: there are none (a system call)

  /// Of a function whose return address lies (or is about to lie) at `slot`.
  static EntryWords of_call(pid_t tid, const Registers& registers, TraceeAddress slot,
                            const proto::CallPlan& plan);
  wire::CallWords view() const;
  /// What `plan` wants to look at once more at the return; null where it wants nothing.
  std::shared_ptr<const std::vector<std::uint64_t>> keep(const proto::CallPlan& plan,
                                                         CaptureMemory& memory) const;
};

/// What a call returns, followed by what was kept of its beginning.
class ReturnWords {
public:
  static constexpr std::size_t kResults = wire::kKeptWordsAt / 8;

  /// `kept` may be null.
  ReturnWords(std::span<const std::uint64_t, kResults> results,
              const std::vector<std::uint64_t>* kept, TraceeAddress stack);
  wire::CallWords view() const;

private:
  std::vector<std::uint64_t> words_;
  std::array<std::uint64_t, kResults> few_{};
  bool is_few_;
  TraceeAddress stack_;
};

/// The result registers, in the order of wire/capture.hpp. The vector ones are asked for where a
/// plan wants them.
std::array<std::uint64_t, ReturnWords::kResults>
result_words(pid_t tid, const Registers& registers, const proto::CallPlan& plan);

} // namespace sonictrace
