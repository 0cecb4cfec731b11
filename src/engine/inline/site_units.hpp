#pragma once

// What the two parts of SiteWriter have in common.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "engine/inline/areas.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/base/check.hpp"
#include "sonictrace/process/tracee_memory.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

inline AddressRange range_of(TraceeAddress at, std::size_t size) {
  return *AddressRange::make(at, at + static_cast<std::int64_t>(size));
}

inline std::int32_t displacement(TraceeAddress end, TraceeAddress target) {
  const std::int64_t distance = target - end;
  SONICTRACE_CHECK(distance == static_cast<std::int32_t>(distance), "an area is out of reach");
  return static_cast<std::int32_t>(distance);
}

template <class T>
void put(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

constexpr std::size_t kStubCode = 19;     ///< bytes of a stub's instructions
constexpr std::size_t kStubHasPushed = 6; ///< behind its push

/// `at`: where it will be. `area`: where the words of the agent's routines are.
inline wire::SiteStub make_stub(TraceeAddress at, TraceeAddress area, AgentRoutine routine,
                                const wire::Site& site) {
  wire::SiteStub stub{};
  constexpr std::uint8_t kCode[] = {
      0xf3, 0x0f, 0x1e, 0xfa,          // endbr64
      0x41, 0x53,                      // push %r11
      0x4c, 0x8d, 0x1d, 0x13, 0, 0, 0, // lea site(%rip),%r11
      0xff, 0x25, 0,    0,    0, 0,    // jmp *routine(%rip)
  };
  static_assert(sizeof kCode == kStubCode && 13 + 0x13 == offsetof(wire::SiteStub, site));
  std::memset(stub.code, 0xcc, sizeof stub.code); // int3
  std::memcpy(stub.code, kCode, sizeof kCode);
  const TraceeAddress word = area + static_cast<std::int64_t>(routine) * 8;
  put(stub.code + 15, displacement(at + 19, word));
  stub.site = site;
  return stub;
}

/// Hands out units of runs one by one, and gathers what is to be written to them.
template <class T>
class UnitWriter {
public:
  explicit UnitWriter(std::vector<UnitRun> runs) : runs_(std::move(runs)) { begin_run(); }

  struct Unit {
    TraceeAddress at, area;
  };
  Unit next() const {
    return {begin_ + static_cast<std::int64_t>(content_.size() * sizeof(T)), runs_[run_].area};
  }
  Result<void> put(const T& content, const TraceeMemory& memory) {
    content_.push_back(content);
    --left_;
    // A piece of the run at a time: it stays in the cache, and takes no fresh memory of ours.
    constexpr std::size_t kPiece = (std::size_t{64} << 10) / sizeof(T);
    if (left_ > 0 && content_.size() < kPiece) return {};
    auto written = memory.write(begin_, std::as_bytes(std::span(content_)));
    begin_ = next().at;
    content_.clear();
    if (left_ == 0) {
      ++run_;
      begin_run();
    }
    return written;
  }

private:
  void begin_run() {
    if (run_ == runs_.size()) return;
    begin_ = runs_[run_].at;
    left_ = runs_[run_].count;
  }

  std::vector<UnitRun> runs_;
  std::size_t run_ = 0;
  TraceeAddress begin_;  ///< of what is not written yet
  std::size_t left_ = 0; ///< units of the run
  std::vector<T> content_;
};

/// Sites farther apart than this are no neighbours that could share areas.
constexpr std::int64_t kNeighbours = std::int64_t{256} << 20;

/// Calls `act` with groups of neighbours of `sorted` things that have an `at`.
template <class T, class Act>
void for_neighbours(std::span<const T* const> sorted, Act act) {
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t end = first + 1;
    while (end < sorted.size() && sorted[end]->at - sorted[first]->at < kNeighbours)
      ++end;
    act(sorted.subspan(first, end - first));
    first = end;
  }
}

/// Those of one place in the order in which they were given.
template <class T>
std::vector<const T*> sorted_by_address(std::span<const T> things) {
  std::vector<const T*> sorted;
  sorted.reserve(things.size());
  for (const T& thing : things)
    sorted.push_back(&thing);
  const auto less = [](const T* a, const T* b) { return a->at < b->at; };
  if (!std::is_sorted(sorted.begin(), sorted.end(), less))
    std::stable_sort(sorted.begin(), sorted.end(), less);
  return sorted;
}

} // namespace sonictrace
