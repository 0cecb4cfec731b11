#include "engine/breakpoint/open_calls.hpp"

#include <algorithm>

namespace sonictrace {

/// `judge` says what became of a call on the right stack. Everything that lies above an alive call
/// on a stack of its own is alive too, so the search ends there.
template <class Judge>
std::vector<EndedCall> OpenCalls::end(StackId stack, Judge judge, const ReadWord& read) {
  std::vector<EndedCall> ended;
  std::size_t at = calls_.size();
  std::size_t lowest = at;
  while (at > 0) {
    const OpenCall& call = calls_[--at];
    if (call.stack.region != stack.region) continue;
    const Verdict verdict = judge(call);
    if (verdict == Verdict::Alive) {
      if (stack.exclusive) break;
      continue;
    }
    // Where stacks may lie side by side, "below" proves nothing: only a return address that is no
    // longer there does.
    if (verdict == Verdict::Left && !stack.exclusive &&
        read(call.slot) == call.return_address.value())
      continue;
    ended.push_back({call, verdict == Verdict::Returned});
    lowest = at;
  }
  if (ended.empty()) return ended;
  const auto is_ended = [&](const OpenCall& call) {
    return std::any_of(ended.begin(), ended.end(),
                       [&](const EndedCall& e) { return e.call.call == call.call; });
  };
  if (calls_.size() - lowest == ended.size()) calls_.resize(lowest); // the newest ones: as a rule
  else
    calls_.erase(std::remove_if(calls_.begin() + static_cast<std::ptrdiff_t>(lowest), calls_.end(),
                                is_ended),
                 calls_.end());
  return ended;
}

std::vector<EndedCall> OpenCalls::end_at_return(TraceeAddress pc, TraceeAddress sp, StackId stack,
                                                const ReadWord& read) {
  return end(
      stack,
      [&](const OpenCall& call) {
        if (call.slot + 8 == sp && call.return_address == pc) return Verdict::Returned;
        return call.slot < sp ? Verdict::Left : Verdict::Alive;
      },
      read);
}

std::vector<EndedCall> OpenCalls::end_at_call(TraceeAddress slot, TraceeAddress return_address,
                                              TraceeAddress site, StackId stack,
                                              std::uint64_t unwound_since, const ReadWord& read) {
  // The oldest call at this place was made by the caller itself, later ones by tail calls.
  const auto oldest = std::find_if(calls_.begin(), calls_.end(), [&](const OpenCall& call) {
    return call.slot == slot && call.return_address == return_address &&
           call.stack.region == stack.region;
  });
  const bool made_again =
      oldest != calls_.end() && oldest->site == site && unwound_since > oldest->begin_ns;
  std::vector<EndedCall> again;
  if (made_again) {
    // Here the return address is in its place, put there by the new call: no proof of life.
    for (auto call = calls_.end(); call != oldest;) {
      --call;
      if (call->stack.region != stack.region || slot < call->slot) continue;
      again.push_back({*call, false});
      call = calls_.erase(call);
    }
    return again;
  }
  return end(
      stack,
      [&](const OpenCall& call) {
        if (call.slot == slot)
          return call.return_address == return_address ? Verdict::Alive : Verdict::Left;
        return call.slot < slot ? Verdict::Left : Verdict::Alive;
      },
      read);
}

std::vector<EndedCall> OpenCalls::end_below(TraceeAddress sp, StackId stack,
                                            const ReadWord& read) {
  return end(
      stack, [&](const OpenCall& call) { return call.slot < sp ? Verdict::Left : Verdict::Alive; },
      read);
}

const OpenCall* OpenCalls::find(TraceeAddress slot, TraceeAddress return_address) const {
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call)
    if (call->slot == slot && call->return_address == return_address) return &*call;
  return nullptr;
}

} // namespace sonictrace
