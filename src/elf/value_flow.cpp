#include "elf/value_flow.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "elf/register_numbers.hpp"

namespace sonictrace::elf {
namespace {

/// Instructions to follow for one load: more than any real function needs.
constexpr std::uint64_t kMostForOneLoad = 20'000;

/// A word on the stack, by the register that it is addressed with.
struct StackWord {
  bool from_rbp = false;
  std::int64_t offset = 0; ///< from rbp, or from what rsp was at the load

  bool operator==(const StackWord&) const = default;
};

/// Where the pointer may be at an instruction.
struct State {
  std::uint16_t registers = 0; ///< a bit for each
  std::array<StackWord, 4> words{};
  std::uint8_t word_count = 0;
  bool knows_rsp = true;
  std::int64_t rsp = 0; ///< against the load

  bool is_lost() const { return registers == 0 && word_count == 0; }
  bool holds(StackWord word) const {
    return std::find(words.begin(), words.begin() + word_count, word) != words.begin() + word_count;
  }
  void add(StackWord word) {
    if (!holds(word) && word_count < words.size()) words[word_count++] = word;
  }
  template <class Which>
  void remove_words(Which which) {
    const auto end = std::remove_if(words.begin(), words.begin() + word_count, which);
    word_count = static_cast<std::uint8_t>(end - words.begin());
  }
  void remove(StackWord word) {
    remove_words([&](const StackWord& held) { return held == word; });
  }
  void lose_rsp() {
    knows_rsp = false;
    remove_words([](const StackWord& held) { return !held.from_rbp; });
  }

  /// Takes in what `other` has; false where that is nothing new.
  bool merge(const State& other) {
    const State before = *this;
    registers |= other.registers;
    if (knows_rsp && (!other.knows_rsp || other.rsp != rsp)) lose_rsp();
    for (std::uint8_t i = 0; i < other.word_count; ++i)
      if (other.words[i].from_rbp || knows_rsp) add(other.words[i]);
    return registers != before.registers || word_count != before.word_count ||
           knows_rsp != before.knows_rsp;
  }
};

class ValueFlow {
public:
  ValueFlow(const CodeReader& reader, const FunctionRange& range, std::span<const std::byte> code,
            std::uint64_t budget)
      : reader_(reader), range_(range), code_(code), budget_(budget) {}

  bool reaches_a_call(ElfAddress load) {
    const auto state = state_after(load);
    if (!state) return false;
    visit(load + instruction_.length, *state);
    return run();
  }

  /// On the way straight on from the load.
  Fate fate(ElfAddress load) {
    constexpr int kSoon = 12; // instructions
    auto state = state_after(load);
    bool has_other_ways = false;
    for (int left = kSoon; state && left > 0; --left) {
      load = load + instruction_.length;
      if (!decode(load)) return Fate::Open;
      if (is_read_through(*state)) return Fate::Read;
      const bool direct = instruction_.raw.imm[0].is_relative != 0;
      switch (instruction_.meta.category) {
        case ZYDIS_CATEGORY_COND_BR: has_other_ways = true; break;
        case ZYDIS_CATEGORY_CALL:
          if (!direct && is_pointer(operands_[0], *state)) return Fate::Called;
          state->registers &= static_cast<std::uint16_t>(~kLostInCalls);
          break;
        case ZYDIS_CATEGORY_UNCOND_BR:
          return !direct && is_pointer(operands_[0], *state) ? Fate::Called : Fate::Open;
        case ZYDIS_CATEGORY_RET: return has_other_ways ? Fate::Open : Fate::Lost;
        default: apply(*state); break;
      }
      if (state->is_lost()) return has_other_ways ? Fate::Open : Fate::Lost;
    }
    return Fate::Open;
  }

  /// Where the flow goes on at a place that cannot be told (a jump table, a landing pad), it may be
  /// any block that nothing else leads to.
  bool reaches_a_call_by_hidden_flow() {
    if (hidden_.is_lost()) return false;
    bool after_end = false;
    for (ElfAddress at = range_.begin; contains(at) && budget_ > 0; --budget_) {
      if (after_end) visit(at, hidden_);
      const auto instruction = reader_.read(rest(at), at);
      if (!instruction) break;
      after_end = instruction->flow == Flow::Jump || instruction->flow == Flow::IndirectJump ||
                  instruction->flow == Flow::Stop;
      at = at + instruction->size;
    }
    return run();
  }

  std::uint64_t budget_left() const { return budget_; }

private:
  bool contains(ElfAddress at) const {
    return at.value() - range_.begin.value() < code_.size(); // wraps for one before the begin
  }
  std::span<const std::byte> rest(ElfAddress at) const {
    return code_.subspan(static_cast<std::size_t>(at - range_.begin));
  }
  bool decode(ElfAddress at) {
    if (!contains(at)) return false;
    const auto bytes = rest(at);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&reader_.decoder(), bytes.data(), bytes.size(),
                                               &instruction_, operands_.data()));
  }

  /// The register of the load at `load`, which is decoded then, holds the pointer.
  std::optional<State> state_after(ElfAddress load) {
    if (!decode(load)) return std::nullopt;
    const int loaded = number_of(operands_[0].reg.value);
    if (loaded < 0) return std::nullopt;
    State state;
    state.registers = bit(loaded);
    return state;
  }

  /// Whether the instruction's memory operand is where the pointer points to.
  bool is_read_through(const State& state) const {
    if (instruction_.meta.category == ZYDIS_CATEGORY_NOP ||
        instruction_.meta.category == ZYDIS_CATEGORY_WIDENOP)
      return false;
    for (std::size_t i = 0; i < instruction_.operand_count; ++i) {
      const ZydisDecodedOperand& operand = operands_[i];
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM ||
          operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS)
        continue;
      const int base = number_of(operand.mem.base);
      if (base >= 0 && (state.registers & bit(base)) != 0) return true;
    }
    return false;
  }

  void visit(ElfAddress at, const State& state) {
    if (state.is_lost() || !contains(at)) return;
    const auto [found, is_new] = states_.try_emplace(at.value(), state);
    if (is_new || found->second.merge(state)) to_do_.push_back(at);
  }

  bool run() {
    while (!to_do_.empty()) {
      ElfAddress at = to_do_.back();
      to_do_.pop_back();
      if (budget_ == 0) return false;
      --budget_;
      if (step(at, states_.at(at.value()))) return true;
    }
    return false;
  }

  /// Applies one instruction and passes the state on; true where it calls the pointer.
  bool step(ElfAddress at, State state) {
    if (!decode(at)) return false;
    const ElfAddress next = at + instruction_.length;
    const bool direct = instruction_.raw.imm[0].is_relative != 0;
    const auto target = next + instruction_.raw.imm[0].value.s;
    switch (instruction_.meta.category) {
      case ZYDIS_CATEGORY_COND_BR:
        visit(target, state);
        visit(next, state);
        return false;
      case ZYDIS_CATEGORY_UNCOND_BR:
        if (direct) {
          visit(target, state);
          return false;
        }
        if (is_pointer(operands_[0], state)) return true;
        remember_hidden(state);
        return false;
      case ZYDIS_CATEGORY_CALL:
        if (!direct && is_pointer(operands_[0], state)) return true;
        state.registers &= static_cast<std::uint16_t>(~kLostInCalls);
        if (range_.has_landing_pads) remember_hidden(state);
        visit(next, state);
        return false;
      case ZYDIS_CATEGORY_RET: return false;
      default: break;
    }
    if (instruction_.mnemonic == ZYDIS_MNEMONIC_UD2 || instruction_.mnemonic == ZYDIS_MNEMONIC_HLT)
      return false;
    apply(state);
    visit(next, state);
    return false;
  }

  void remember_hidden(const State& state) {
    if (hidden_.is_lost()) {
      hidden_ = state;
    } else {
      hidden_.merge(state);
    }
  }

  std::optional<StackWord> stack_word(const ZydisDecodedOperand& operand,
                                      const State& state) const {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE)
      return std::nullopt;
    if (operand.mem.base == ZYDIS_REGISTER_RBP) return StackWord{true, operand.mem.disp.value};
    if (operand.mem.base == ZYDIS_REGISTER_RSP && state.knows_rsp)
      return StackWord{false, state.rsp + operand.mem.disp.value};
    return std::nullopt;
  }

  /// Whether `operand` is a register or a word on the stack that may hold the pointer.
  bool is_pointer(const ZydisDecodedOperand& operand, const State& state) const {
    if (operand.size != 64) return false;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const int number = number_of(operand.reg.value);
      return number >= 0 && (state.registers & bit(number)) != 0;
    }
    const auto word = stack_word(operand, state);
    return word && state.holds(*word);
  }

  void apply(State& state) {
    const bool moves = is_pointer(operands_[1], state);
    switch (instruction_.mnemonic) {
      case ZYDIS_MNEMONIC_PUSH: {
        const bool pushes = is_pointer(operands_[0], state);
        state.rsp -= 8;
        const StackWord word{false, state.rsp};
        state.remove(word);
        if (pushes && state.knows_rsp) state.add(word);
        return;
      }
      case ZYDIS_MNEMONIC_POP: {
        const bool pops = state.knows_rsp && state.holds({false, state.rsp});
        state.rsp += 8;
        write(operands_[0], pops, state);
        return;
      }
      case ZYDIS_MNEMONIC_MOV: write(operands_[0], moves, state); return;
      case ZYDIS_MNEMONIC_LEAVE:
        state.lose_rsp();
        lose_register(kRbp, state);
        return;
      case ZYDIS_MNEMONIC_SUB:
      case ZYDIS_MNEMONIC_ADD:
        if (operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operands_[0].reg.value == ZYDIS_REGISTER_RSP &&
            operands_[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
          const std::int64_t by = operands_[1].imm.value.s;
          state.rsp += instruction_.mnemonic == ZYDIS_MNEMONIC_ADD ? by : -by;
          return;
        }
        break;
      default: break;
    }
    const bool conditional = instruction_.meta.category == ZYDIS_CATEGORY_CMOV;
    for (std::size_t i = 0; i < instruction_.operand_count; ++i) {
      const ZydisDecodedOperand& operand = operands_[i];
      if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) continue;
      // A conditional move leaves what was there, or brings the pointer.
      if (conditional && i == 0) {
        if (moves || is_pointer(operand, state)) write(operand, true, state);
        continue;
      }
      write(operand, false, state);
    }
  }

  /// The register or the word on the stack that `operand` is now holds the pointer, or does not.
  void write(const ZydisDecodedOperand& operand, bool pointer, State& state) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const int number = number_of(operand.reg.value);
      if (number < 0) return;
      lose_register(number, state);
      if (pointer) state.registers |= bit(number);
      return;
    }
    const auto word = stack_word(operand, state);
    if (!word) return;
    state.remove(*word);
    if (pointer) state.add(*word);
  }

  /// The register has a new value; words addressed with it are now others.
  void lose_register(int number, State& state) {
    state.registers &= static_cast<std::uint16_t>(~bit(number));
    if (number == kRsp) state.lose_rsp();
    if (number == kRbp) state.remove_words([](const StackWord& held) { return held.from_rbp; });
  }

  const CodeReader& reader_;
  const FunctionRange& range_;
  std::span<const std::byte> code_;
  ZydisDecodedInstruction instruction_{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_{};
  std::unordered_map<std::uint64_t, State> states_;
  std::vector<ElfAddress> to_do_;
  State hidden_;         ///< where it may be when the flow goes on somewhere that cannot be told
  std::uint64_t budget_; ///< instructions
};

} // namespace

Fate fate_of_load(const CodeReader& reader, const FunctionRange& range,
                  std::span<const std::byte> code, ElfAddress load) {
  return ValueFlow(reader, range, code, 0).fate(load);
}

bool is_loaded_to_be_called(const CodeReader& reader, const FunctionRange& range,
                            std::span<const std::byte> code, ElfAddress load,
                            std::uint64_t& budget) {
  const std::uint64_t granted = std::min(budget, kMostForOneLoad);
  ValueFlow flow(reader, range, code, granted);
  const bool is_called = flow.reaches_a_call(load) || flow.reaches_a_call_by_hidden_flow();
  budget -= granted - flow.budget_left();
  return is_called;
}

} // namespace sonictrace::elf
