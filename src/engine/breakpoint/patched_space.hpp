#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/breakpoint/breakpoint.hpp"
#include "engine/breakpoint/slot_pages.hpp"
#include "engine/breakpoint/stack_map.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/process/remote_call.hpp"
#include "sonictrace/process/stopped_tracee.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// The breakpoints in one address space, and the slots where overwritten instructions run.
/// Invariant: for every breakpoint listed, memory holds an int3 that we wrote.
class PatchedSpace final : public WordMemory {
public:
  explicit PatchedSpace(std::shared_ptr<AddressSpace> space) : space_(std::move(space)) {}
  /// For a fork child: its memory is a copy of ours, breakpoints and slots included.
  std::unique_ptr<PatchedSpace> copy_for(std::shared_ptr<AddressSpace> child) const;

  const AddressSpace& space() const { return *space_; }
  const std::shared_ptr<AddressSpace>& shared_space() const { return space_; }
  StackMap& stacks() { return stacks_; }

  Breakpoint* find(TraceeAddress at);
  /// Was there once, and may have been hit by a thread that we have not heard of yet.
  bool was_at(TraceeAddress at) const { return retired_.contains(at.value()); }

  /// The breakpoint at `at`, put in where there was none. Fails where there is no instruction, or
  /// one that can't be moved.
  Result<Breakpoint*> insert(TraceeAddress at);
  /// The same for where a call returns to. Fails where that is no code: what looked like a return
  /// address was none.
  Result<Breakpoint*> insert_return_site(TraceeAddress at);
  /// Makes sure that a thread can be brought past a breakpoint: gives it its slot. Where a page
  /// must be mapped first, `tracee` makes the call, in a stop that allows remote calls; it may be
  /// killed in that: then it is empty and `killed` is set.
  Result<void> make_passable(Breakpoint& breakpoint, std::optional<StoppedTracee>& tracee,
                             std::optional<Exit>& killed);
  /// Where no page can be mapped: code of the program that has run and never runs again (its
  /// loader's or its own entry point), to step one displaced instruction at a time in.
  void set_step_area(TraceeAddress area) { step_area_ = area; }
  /// Runs the instruction of `breakpoint` there, by a single step. Gives the tracee back behind it;
  /// or in a stop of the program's own that came first, at the original place; or its Exit. Fails,
  /// with nothing done, where there is no such area or it is out of reach.
  Result<void> step(const Breakpoint& breakpoint, std::optional<StoppedTracee>& tracee,
                    std::optional<Exit>& killed);

  /// Makes a remote call with `tracee`, which it may be killed in: then it is empty and `killed` is
  /// set. Fails where a seccomp filter would not let it.
  Result<std::uint64_t> call_in(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed,
                                long number, std::array<std::uint64_t, 6> arguments,
                                std::optional<PassedMemory> passed = std::nullopt);
  /// Whose calls those are that are made at a probe of `function`.
  FunctionId current(FunctionId function) const {
    const auto known = rebound_.find(function);
    return known == rebound_.end() ? function : known->second;
  }
  void rebind(FunctionId function, FunctionId now) {
    for (auto& [original, current] : rebound_)
      if (current == function) current = now;
    rebound_.insert_or_assign(function, now);
  }

  /// Takes one out of memory.
  void retire(TraceeAddress at);
  void remove_marks(Mark mark);
  /// Takes all out of memory. What fails has no memory any more.
  void remove_all();
  /// Its last thread has left, after `remove_all`, and none is in a slot: the next session may use
  /// them.
  void give_back_slots() const;
  void forget_range(AddressRange range);

  /// The place in the program that a thread at `pc` is at: for one in a slot, that of the original
  /// instruction or the one behind it; else `pc`.
  TraceeAddress original_of(TraceeAddress pc) const;

  Result<std::uint64_t> read_word(TraceeAddress from) override {
    return space_->memory().read_word(from);
  }
  Result<void> write_word(TraceeAddress to, std::uint64_t value) override {
    return space_->memory().write_word(to, value);
  }

private:
  void take_out(TraceeAddress at, std::byte original);
  std::vector<std::byte> original_bytes(TraceeAddress from, std::size_t size) const;
  Result<void> map_area(std::optional<TraceeAddress> near, std::optional<StoppedTracee>& tracee,
                        std::optional<Exit>& killed);
  std::optional<TraceeAddress> find_left_area(const std::vector<Mapping>& mappings,
                                              std::optional<TraceeAddress> near) const;
  Result<void> add_area(TraceeAddress begin);

  std::shared_ptr<AddressSpace> space_;
  std::unordered_map<std::uint64_t, Breakpoint> breakpoints_; ///< by address
  /// Taken out, with the byte that belongs there: a child that was forked before has a copy.
  std::unordered_map<std::uint64_t, std::byte> retired_;
  std::unordered_map<FunctionId, FunctionId> rebound_;
  SlotPages slots_;
  StackMap stacks_;
  std::optional<TraceeAddress> step_area_;
  std::vector<std::byte> step_area_content_; ///< what stood there before the first step
  std::vector<AddressRange> code_;           ///< mappings known to be executable
  bool is_removed_ = false;
  bool mapping_refused_ = false; ///< by seccomp or the kernel: not to be tried again
};

} // namespace sonictrace
