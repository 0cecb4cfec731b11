#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// Which stack an address lies on.
struct StackId {
  std::uint32_t region = 0; ///< a number for one mapping
  /// The mapping is one stack and nothing else (the thread's own), so that of two frames on it the
  /// lower one is the inner one. In a heap several coroutine stacks may lie side by side.
  bool exclusive = false;
};

struct OpenCall {
  std::uint64_t call = 0;
  FunctionId function = 0;
  TraceeAddress slot; ///< where its return address lies
  TraceeAddress return_address;
  TraceeAddress site;        ///< where it was made
  TraceeAddress target_slot; ///< what it went through, if anything: a word that holds its callee
  StackId stack;
  std::uint16_t depth = 1;
  std::uint64_t begin_ns = 0; ///< CLOCK_MONOTONIC, when the thread was let go
  std::uint64_t own_ns = 0;   ///< of that thread's time spent by us, until then
  /// Words of its beginning that are wanted at its return; null: none are.
  std::shared_ptr<const std::vector<std::uint64_t>> kept;
};

/// When a call ended, by the clocks of OpenCall.
struct CallEnd {
  std::uint64_t seen_ns = 0; ///< CLOCK_MONOTONIC
  std::uint64_t own_ns = 0;  ///< of its thread's time spent by us, until then
};

struct EndedCall {
  OpenCall call;
  bool returned = false; ///< else it was left by an exception or a longjmp
};

/// The calls that one thread is in, on all its stacks, oldest first. Pure bookkeeping: pairs entry
/// with return by stack pointer *and* return address, so that recursion, longjmp, exceptions,
/// coroutines, callbacks and tail calls come out right at any depth.
class OpenCalls {
public:
  /// Reads a word of the thread's stack; nothing where it can't be read.
  using ReadWord = std::function<std::uint64_t(TraceeAddress)>;

  /// Its id is larger than those before.
  void push(const OpenCall& call) {
    calls_.push_back(call);
    if (!call.stack.exclusive) side_by_side_.insert(place_of(call));
  }
  std::size_t size() const { return calls_.size(); }
  bool empty() const { return calls_.empty(); }
  const std::vector<OpenCall>& all() const { return calls_; }
  /// The thread is let go: the `newest` calls begin now.
  void start_clocks(std::size_t newest, std::uint64_t now_ns, std::uint64_t own_ns) {
    for (std::size_t at = calls_.size() - newest; at < calls_.size(); ++at) {
      calls_[at].begin_ns = now_ns;
      calls_[at].own_ns = own_ns;
    }
  }

  /// The thread arrived at `pc` with stack pointer `sp`: all calls that return there end as
  /// returned, those below on the same stack as unwound. Innermost first.
  std::vector<EndedCall> end_at_return(TraceeAddress pc, TraceeAddress sp, StackId stack,
                                       const ReadWord& read);
  /// The thread makes a call whose return address lies at `slot`: calls below it on the same stack
  /// have ended, and so has one at the same place with another return address. One with the same
  /// return address is a tail call's caller, unless `unwound_since` its beginning (CLOCK_MONOTONIC,
  /// 0: never) something was unwound and the call is made at the very site where that one was: then
  /// it is the same call made again.
  std::vector<EndedCall> end_at_call(TraceeAddress slot, TraceeAddress return_address,
                                     TraceeAddress site, StackId stack, std::uint64_t unwound_since,
                                     const ReadWord& read);
  /// The frames below `sp` on this stack were left (a catch, the target of a longjmp).
  std::vector<EndedCall> end_below(TraceeAddress sp, StackId stack, const ReadWord& read);

  /// The newest call made with this return address at this place, or null.
  const OpenCall* find(TraceeAddress slot, TraceeAddress return_address) const;

private:
  enum class Verdict { Alive, Returned, Left };
  /// A mapping, a slot in it, the call's id.
  using Place = std::tuple<std::uint32_t, TraceeAddress, std::uint64_t>;
  static Place place_of(const OpenCall& call) { return {call.stack.region, call.slot, call.call}; }

  template <class Judge>
  std::vector<EndedCall> end(StackId stack, TraceeAddress limit, Judge judge, const ReadWord& read);
  template <class Judge>
  void judge_newest(StackId stack, Judge judge, std::vector<EndedCall>& ended);
  template <class Judge>
  void judge_below(StackId stack, TraceeAddress limit, Judge judge, const ReadWord& read,
                   std::vector<EndedCall>& ended);
  void remove(const std::vector<EndedCall>& ended);
  std::size_t index_of(std::uint64_t call) const;
  const OpenCall* oldest_at(TraceeAddress slot, TraceeAddress return_address, StackId stack) const;

  std::vector<OpenCall> calls_; ///< by id
  /// Those on stacks that may lie side by side: there every one below a place is to be looked at,
  /// and never all of them, which may be as many as a recursion is deep.
  std::set<Place> side_by_side_;
};

} // namespace sonictrace
