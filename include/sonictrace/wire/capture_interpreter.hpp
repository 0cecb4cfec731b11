#pragma once

// The one interpreter of capture plans, included by wire/capture.hpp. Freestanding.

#include "sonictrace/wire/capture.hpp"
#include "sonictrace/wire/format.hpp"

namespace sonictrace::wire {

/// Characters of a format string, read a piece at a time.
template <class Memory>
class FormatSource {
public:
  /// `unit`: bytes of a character, 1 or 4.
  FormatSource(Memory& memory, std::uint64_t at, std::size_t unit)
      : memory_(memory), at_(at), unit_(unit == 4 ? 4 : 1) {}

  /// 0x80 for whatever is no ASCII.
  int peek() {
    if (position_ == size_) fill();
    if (position_ >= size_) return -1;
    if (unit_ == 1) return static_cast<int>(piece_[position_]);
    std::uint32_t character;
    __builtin_memcpy(&character, piece_ + position_, sizeof character);
    return character < 0x80 ? static_cast<int>(character) : 0x80;
  }
  int next() {
    const int c = peek();
    if (c > 0) position_ += unit_;
    return c;
  }
  /// It goes on, behind what was looked at.
  bool is_cut() const { return is_cut_; }

private:
  static constexpr std::size_t kPiece = 64;
  static constexpr std::size_t kLongest = 16384; ///< bytes of a format: no trap for us

  void fill() {
    if (read_ >= kLongest) {
      is_cut_ = true;
      return;
    }
    size_ = memory_.read(at_ + read_, piece_, kPiece) / unit_ * unit_;
    read_ += size_;
    position_ = 0;
  }

  Memory& memory_;
  std::uint64_t at_;
  std::size_t unit_;
  std::size_t read_ = 0, position_ = 0, size_ = 0;
  bool is_cut_ = false;
  std::byte piece_[kPiece];
};

template <class Memory>
class CaptureInterpreter {
public:
  CaptureInterpreter(const CallWords& words, Memory& memory, std::byte* out, std::size_t room)
      : words_(words), memory_(memory), out_(out), room_(room) {}

  std::size_t used() const { return used_; }
  /// Something was left out, for want of room.
  bool is_full() const { return full_; }

  void run(const CaptureOp* ops, std::size_t count) { run(ops, count, {true, 0}, {true, 0}, 0); }

private:
  static constexpr std::uint8_t kCheckedReference = 2, kOneOfSeveral = 3; ///< CaptureOp::detail

  /// In the call's words, or in memory.
  struct Place {
    bool in_words;
    std::uint64_t at;
    Place operator+(std::uint64_t bytes) const { return {in_words, at + bytes}; }
  };

  void run(const CaptureOp* ops, std::size_t count, Place base, Place owner, unsigned nesting) {
    for (std::size_t at = 0; at < count && !full_; at += std::size_t{1} + ops[at].body) {
      // Of most plans most steps.
      if (ops[at].kind == CaptureKind::Value)
        value(base + ops[at].offset, ops[at].size, 0);
      else
        step(ops[at], base, owner, nesting);
    }
  }

  void step(const CaptureOp& op, Place base, Place owner, unsigned nesting) {
    const Place place = base + op.offset;
    const CaptureOp* const body = &op + 1;
    switch (op.kind) {
      case CaptureKind::Value: return value(place, op.size, 0);
      case CaptureKind::Text: {
        std::uint64_t pointer = 0;
        if (!read_number(place, op.element_size, pointer)) return no_pointer(0);
        if (pointer == 0) return put_word(pointer, FieldState::Unreadable, 0);
        return text(op, {false, pointer}, owner);
      }
      case CaptureKind::InlineText: return text(op, place, owner);
      case CaptureKind::Pointer: return pointer(op, body, place, owner, nesting);
      case CaptureKind::Array: return array(op, body, place, owner, nesting);
      case CaptureKind::Struct:
        if (nesting < kDeepestCapture) run(body, op.body, place, place, nesting + 1);
        return;
      case CaptureKind::Filled: {
        std::uint64_t pointer = 0;
        if (!read_number(place, op.size, pointer)) return no_pointer(0);
        const bool there = pointer != 0 && nesting < kDeepestCapture && has_succeeded(op, owner);
        put_word(pointer, there ? FieldState::Whole : FieldState::Unreadable, 0);
        if (there) run(body, op.body, base, owner, nesting + 1);
        return;
      }
      case CaptureKind::PrintArguments: return print_arguments(op, place);
      case CaptureKind::PrintList: return print_list(op, place);
      case CaptureKind::ScanArguments: return scan_arguments(op, place);
      case CaptureKind::Nothing: return;
      case CaptureKind::Sequence: return sequence(op, body, place, owner, nesting);
      case CaptureKind::Check: {
        std::uint64_t number = 0;
        const bool there = read_number(place, op.size, number);
        std::byte probe;
        constexpr std::uint64_t kPage = 4096;
        if (op.detail == 2)
          is_wrong_ = is_wrong_ || (number != 0 && (number < kPage || number >= kMostBytes));
        else if (op.detail != 0)
          is_wrong_ = is_wrong_ || number == 0 || memory_.read(number, &probe, 1) != 1;
        else if (!there || (number & op.length_at) != op.second_at)
          is_wrong_ = true;
        return;
      }
      case CaptureKind::Choice: return choice(op, body, base, owner, nesting);
      case CaptureKind::Reading: return run(body, op.body, base, owner, nesting + 1);
    }
  }

  // Reading.

  std::size_t read(Place place, std::byte* into, std::size_t size) {
    if (!place.in_words) return place.at == 0 ? 0 : memory_.read(place.at, into, size);
    if (place.at + size <= words_.size) {
      __builtin_memcpy(into, reinterpret_cast<const std::byte*>(words_.words) + place.at, size);
      return size;
    }
    if (words_.stack == 0 || place.at < words_.stack_at) return 0;
    return memory_.read(words_.stack + (place.at - words_.stack_at), into, size);
  }

  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  /// Whether a whole word can be taken from the call's words, so that nothing has to be copied byte
  /// by byte.
  bool is_word(Place place) const {
    return place.in_words && place.at <= words_.size && words_.size - place.at >= kWord;
  }
  std::uint64_t word_at(Place place) const {
    std::uint64_t word;
    __builtin_memcpy(&word, reinterpret_cast<const std::byte*>(words_.words) + place.at, kWord);
    return word;
  }

  bool read_number(Place place, std::size_t size, std::uint64_t& number) {
    if (size <= kWord && is_word(place)) {
      constexpr std::uint64_t kAll = ~std::uint64_t{0};
      number = size == 0 ? 0 : word_at(place) & kAll >> (kWord - size) * 8;
      return true;
    }
    number = 0;
    return size <= sizeof number &&
           read(place, reinterpret_cast<std::byte*>(&number), size) == size;
  }

  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

  /// False where nothing is behind the pointer: the length is negative, or can't be read.
  bool length_of(const CaptureOp& op, Place owner, std::uint64_t& length) {
    length = kUnlimited;
    switch (op.length) {
      case LengthKind::None: return true;
      case LengthKind::Constant: length = op.length_at; break;
      case LengthKind::Word:
        if (!read_number({true, op.length_at}, op.length_size, length)) return false;
        break;
      case LengthKind::Element:
        if (!read_number(owner + op.length_at, op.length_size, length)) return false;
        break;
    }
    if (op.length != LengthKind::Constant && op.length_signed &&
        is_negative(length, op.length_size))
      return false;
    return op.combine == Combine::Alone || combine(op, length);
  }

  static bool is_negative(std::uint64_t number, std::size_t size) {
    return (number & std::uint64_t{1} << (size * 8 - 1)) != 0;
  }

  bool combine(const CaptureOp& op, std::uint64_t& length) {
    std::uint64_t second = op.second_at;
    if (op.second_size != 0) {
      if (!read_number({true, op.second_at}, op.second_size, second)) return false;
      if (op.second_signed && is_negative(second, op.second_size)) return false;
    }
    if (op.combine == Combine::Least) {
      if (second < length) length = second;
    } else if (__builtin_mul_overflow(length, second, &length)) {
      length = kUnlimited;
    }
    return true;
  }

  bool has_succeeded(const CaptureOp& op, Place owner) {
    std::uint64_t result = 0;
    const bool known = length_of(op, owner, result); // false where it is negative, and must not be
    switch (static_cast<Failure>(op.limit)) {
      case Failure::Negative: return known;
      case Failure::Zero: return known && result != 0;
      case Failure::NotZero: return known && result == 0;
      case Failure::NotPositive: return known && result != 0;
    }
    return known;
  }

  // Writing.

  std::byte* begin_field(std::size_t size) {
    if (full_ || size > 0xffff || room_ - used_ < sizeof(FieldHeader) + size) {
      full_ = true;
      return nullptr;
    }
    return out_ + used_ + sizeof(FieldHeader);
  }

  void end_field(std::size_t size, FieldState state, unsigned tag) {
    const FieldHeader header = {static_cast<std::uint16_t>(size), state,
                                static_cast<std::uint8_t>(tag)};
    __builtin_memcpy(out_ + used_, &header, sizeof header);
    used_ += sizeof header + size;
  }

  void put_word(std::uint64_t word, FieldState state, unsigned tag) {
    std::byte* const into = begin_field(sizeof word);
    if (into == nullptr) return;
    __builtin_memcpy(into, &word, sizeof word);
    end_field(sizeof word, state, tag);
  }

  /// Nothing can be read there.
  void unreadable(Place place, unsigned tag) {
    put_word(address_of(place), FieldState::Unreadable, tag);
  }

  /// Not even the pointer can be read.
  void no_pointer(unsigned tag) { put_word(0, FieldState::Broken, tag); }

  static std::uint64_t address_of(Place place) { return place.in_words ? 0 : place.at; }

  // The kinds.

  void value(Place place, std::size_t size, unsigned tag) {
    if (size <= kWord && is_word(place) && room_ - used_ >= sizeof(FieldHeader) + kWord && !full_) {
      const std::uint64_t word = word_at(place);
      __builtin_memcpy(out_ + used_ + sizeof(FieldHeader), &word, kWord); // what is too much is
      return end_field(size, FieldState::Whole, tag);                     // overwritten
    }
    std::byte* const into = begin_field(size);
    if (into == nullptr) return;
    if (read(place, into, size) != size) return unreadable(place, tag);
    end_field(size, FieldState::Whole, tag);
  }

  static bool is_zero(const std::byte* at, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      if (at[i] != std::byte{0}) return false;
    return true;
  }

  void text(const CaptureOp& op, Place from, Place owner) {
    std::uint64_t length = 0;
    if (!length_of(op, owner, length)) return unreadable(from, 0);
    text(from, op.size, op.limit, length, op.until_zero, 0);
  }

  void text(Place from, std::size_t unit, std::size_t limit, std::uint64_t length, bool to_zero,
            unsigned tag) {
    const std::uint64_t address = address_of(from);
    const std::size_t most = (0xffff - sizeof address) / unit - 1;
    if (limit > most) limit = most;
    // Where the room ends before the limit, the text does.
    const std::size_t left = room_ - used_;
    const std::size_t lead = sizeof(FieldHeader) + sizeof address + unit;
    if (left > lead && lead + limit * unit > left) limit = (left - lead) / unit;
    const bool fits = length <= limit; // then the end is known without looking at it
    const std::size_t wanted = (fits ? static_cast<std::size_t>(length) : limit + 1) * unit;
    std::byte* const into = begin_field(sizeof address + wanted);
    if (into == nullptr) return;
    __builtin_memcpy(into, &address, sizeof address);
    std::byte* const at = into + sizeof address;
    const std::size_t readable = wanted == 0 ? 0 : read(from, at, wanted) / unit * unit;

    FieldState state = FieldState::Whole;
    std::size_t size = 0;
    if (to_zero)
      while (size < readable && !is_zero(at + size, unit))
        size += unit;
    else
      size = readable;
    const bool ended = to_zero && size < readable && size <= limit * unit;
    if (!ended && wanted != 0) {
      if (readable == 0)
        state = FieldState::Unreadable;
      else if (readable < wanted)
        state = FieldState::Broken;
      else if (!fits)
        state = FieldState::Cut;
    }
    if (size > limit * unit) size = limit * unit;
    end_field(sizeof address + size, state, tag);
  }

  void pointer(const CaptureOp& op, const CaptureOp* body, Place place, Place owner,
               unsigned nesting) {
    std::uint64_t address = 0;
    if (!read_number(place, op.size, address)) return no_pointer(0);
    if (address == 0) return leads_nowhere(op, address);
    if (nesting >= kDeepestCapture) return put_word(address, FieldState::Deep, 0);
    for (unsigned out = 0; out < enclosing_count_; ++out)
      if (enclosing_[enclosing_count_ - 1 - out] == address)
        return put_word(address, FieldState::Recursive, out);
    std::byte probe;
    if (memory_.read(address, &probe, 1) != 1) return leads_nowhere(op, address);
    const std::size_t before = used_;
    const bool was_wrong = is_wrong_;
    is_wrong_ = false;
    put_word(address, FieldState::Whole, 0);

    const bool to_struct = op.body > 0 && body->kind == CaptureKind::Struct;
    if (to_struct) enclosing_[enclosing_count_++] = address;
    run(body, op.body, {false, address}, owner, nesting + 1);
    if (to_struct) --enclosing_count_;
    if (is_wrong_ && op.detail >= kCheckedReference) {
      is_wrong_ = op.detail != kOneOfSeveral;
      full_ = false;
      used_ = before;
      put_word(address, FieldState::Unreadable, 0);
    }
    is_wrong_ = is_wrong_ || was_wrong;
  }

  void leads_nowhere(const CaptureOp& op, std::uint64_t address) {
    if (op.detail != 0) is_wrong_ = true;
    put_word(address, FieldState::Unreadable, 0);
  }

  bool element_is_zero(Place place, std::size_t size, bool& readable) {
    std::byte piece[16];
    for (std::size_t at = 0; at < size; at += sizeof piece) {
      const std::size_t part = size - at < sizeof piece ? size - at : sizeof piece;
      readable = read(place + at, piece, part) == part;
      if (!readable || !is_zero(piece, part)) return false;
    }
    return true;
  }

  void array(const CaptureOp& op, const CaptureOp* body, Place place, Place owner,
             unsigned nesting) {
    std::uint64_t length = 0;
    if (nesting >= kDeepestCapture) return put_word(address_of(place), FieldState::Deep, 0);
    if (!length_of(op, owner, length)) return unreadable(place, 0);
    std::uint64_t shown = length < op.limit ? length : op.limit;
    FieldState state = length > op.limit ? FieldState::Cut : FieldState::Whole;
    if (op.until_zero) {
      std::uint64_t at = 0;
      for (; at < length; ++at) {
        bool readable = true;
        const bool ends = element_is_zero(place + at * op.element_size, op.element_size, readable);
        if (!readable) {
          state = FieldState::Broken;
          break;
        }
        if (ends) {
          state = FieldState::Whole;
          break;
        }
        if (at == op.limit) break; // there is at least one more
      }
      if (at < shown) shown = at;
      if (state == FieldState::Broken && at == 0) return unreadable(place, 0);
    }
    put_word(shown, state, 0);
    for (std::uint64_t at = 0; at < shown && !full_; ++at)
      run(body, op.body, place + at * op.element_size, owner, nesting + 1);
  }

  // Objects of C++.

  /// The elements of an object: `size` of them, each of `op.size` or `op.element_size` bytes.
  struct Elements {
    Place data = {false, 0};
    std::uint64_t size = 0;
    bool is_sound = false; ///< it is such an object, as far as can be told
  };

  void sequence(const CaptureOp& op, const CaptureOp* body, Place place, Place owner,
                unsigned nesting) {
    const std::size_t element = op.body != 0 ? op.element_size : op.size;
    const Elements elements = elements_of(op, place, element);
    if (!elements.is_sound) is_wrong_ = true;
    if (!elements.is_sound || element == 0) return unreadable(place, 0);
    if (op.body == 0) return text(elements.data, op.size, op.limit, elements.size, false, 0);
    if (nesting >= kDeepestCapture) return put_word(address_of(place), FieldState::Deep, 0);
    const bool is_cut = elements.size > op.limit;
    const std::uint64_t shown = is_cut ? op.limit : elements.size;
    put_word(shown, is_cut ? FieldState::Cut : FieldState::Whole, 0);
    for (std::uint64_t at = 0; at < shown && !full_; ++at)
      run(body, op.body, elements.data + at * op.element_size, owner, nesting + 1);
  }

  Elements elements_of(const CaptureOp& op, Place place, std::size_t element) {
    const auto layout = static_cast<SequenceLayout>(op.detail);
    std::uint64_t words[3] = {};
    const auto read_words = [&](std::size_t count) {
      return read(place, reinterpret_cast<std::byte*>(words), count * sizeof words[0]) ==
             count * sizeof words[0];
    };
    switch (layout) {
      case SequenceLayout::None: return {};
      case SequenceLayout::GnuString: {
        if (!read_words(3)) return {};
        constexpr std::uint64_t kSmall = 16; // bytes, of which one character is the NUL
        const bool is_small = words[0] == place.at + 2 * sizeof words[0];
        const std::uint64_t capacity = is_small ? kSmall / op.size - 1 : words[2];
        return text_in({false, words[0]}, words[1], capacity, op.size);
      }
      case SequenceLayout::OldGnuString: {
        if (!read_words(1)) return {};
        const std::uint64_t data = words[0];
        if (data < sizeof words ||
            memory_.read(data - sizeof words, reinterpret_cast<std::byte*>(words), sizeof words) !=
                sizeof words)
          return {};
        // -1: it may not be shared. Nobody has a billion of them.
        const auto owners = static_cast<std::int32_t>(static_cast<std::uint32_t>(words[2]));
        if (owners < -1 || owners > 1'000'000'000) return {};
        return text_in({false, data}, words[0], words[1], op.size);
      }
      case SequenceLayout::LlvmString: {
        if (!read_words(3)) return {};
        const std::uint64_t head = words[0] & 0xff;
        if ((head & 1) != 0)
          return text_in({false, words[2]}, words[1], words[0] >> 1 << 1, op.size);
        // The character of a small one begins where a character may.
        return text_in(place + op.size, head >> 1, sizeof words / op.size - 2, op.size);
      }
      case SequenceLayout::LengthFirst:
        if (!read_words(2)) return {};
        return elements_at(words[1], words[0], element);
      case SequenceLayout::DataOrFlag:
        if (!read_words(2)) return {};
        return {place, words[0] == 0 && words[1] == 1 ? 0U : 1U, true};
      case SequenceLayout::DataFirst:
        if (!read_words(2)) return {};
        return elements_at(words[0], words[1], element);
      case SequenceLayout::Range: {
        if (!read_words(3)) return {};
        if (words[0] > words[1] || words[1] > words[2]) return {};
        if (words[0] == 0 && words[2] != 0) return {};
        const std::uint64_t bytes = words[1] - words[0];
        if (element == 0) return elements_at(words[0], bytes, 1);
        if (bytes % element != 0 || (words[2] - words[0]) % element != 0) return {};
        return elements_at(words[0], bytes / element, element);
      }
      case SequenceLayout::Tensor:
        if (!read_words(1)) return {};
        return sizes_of_tensor(words[0]);
      case SequenceLayout::FlagBehind:
      case SequenceLayout::FlagInFront: {
        const bool is_in_front = layout == SequenceLayout::FlagInFront;
        // Negative where they are in registers of two kinds.
        const std::int64_t distance = static_cast<std::int32_t>(op.length_at);
        const Place other = place + static_cast<std::uint64_t>(distance);
        std::uint64_t flag = 0;
        if (!read_number(is_in_front ? place : other, 1, flag) || flag > 1) return {};
        return {is_in_front ? other : place, flag, true};
      }
    }
    return {};
  }

  /// More bytes than that no object has: the lower half of the address space.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 47;

  /// Of a std::string, which ends with a NUL.
  Elements text_in(Place data, std::uint64_t size, std::uint64_t capacity, std::size_t unit) {
    if (size > capacity || capacity > kMostBytes / unit) return {};
    std::uint64_t end = 0;
    if (!read_number(data + size * unit, unit, end) || end != 0) return {};
    return {data, size, true};
  }

  /// c10/core/TensorImpl.h, c10/core/impl/SizesAndStrides.h.
  Elements sizes_of_tensor(std::uint64_t implementation) {
    constexpr std::uint64_t kSizesAt = 72, kElementsAt = 168, kMostInline = 5, kMost = 64;
    struct {
      std::uint64_t count;
      std::uint64_t sizes_or_pointer[kMostInline];
    } head;
    std::uint64_t elements = 0;
    if (implementation == 0 ||
        memory_.read(implementation + kSizesAt, reinterpret_cast<std::byte*>(&head), sizeof head) !=
            sizeof head ||
        !read_number({false, implementation + kElementsAt}, sizeof elements, elements) ||
        head.count > kMost)
      return {};
    const bool is_inline = head.count <= kMostInline;
    const std::uint64_t data =
        is_inline ? implementation + kSizesAt + sizeof head.count : head.sizes_or_pointer[0];
    std::uint64_t product = 1;
    for (std::uint64_t at = 0; at < head.count; ++at) {
      std::uint64_t size = 0;
      if (!read_number({false, data + at * sizeof size}, sizeof size, size)) return {};
      if (__builtin_mul_overflow(product, size, &product)) return {};
    }
    if (product != elements) return {};
    return {{false, data}, head.count, true};
  }

  /// All of them are there, as far as the ends tell.
  Elements elements_at(std::uint64_t data, std::uint64_t size, std::size_t element) {
    const Elements elements = {{false, data}, size, true};
    if (size == 0 || element == 0) return elements;
    if (size > kMostBytes / element) return {};
    std::byte probe;
    const std::uint64_t last = data + size * element - 1;
    if (data == 0 || last < data || memory_.read(data, &probe, 1) != 1 ||
        memory_.read(last, &probe, 1) != 1)
      return {};
    return elements;
  }

  /// All readings are tried. What a wrong one has written is taken back.
  void choice(const CaptureOp& op, const CaptureOp* body, Place base, Place owner,
              unsigned nesting) {
    std::uint64_t head[2] = {};
    (void)read_number({true, 0}, sizeof head[1], head[1]);
    std::byte* const into = begin_field(sizeof head);
    if (into == nullptr) return;
    end_field(sizeof head, FieldState::Whole, 0);
    const bool was_wrong = is_wrong_;
    std::uint64_t bit = 1;
    for (std::size_t at = 0; at < op.body && !full_; at += std::size_t{1} + body[at].body) {
      const bool is_last = at + 1 + body[at].body >= op.body;
      const bool is_decided = head[0] != 0 && (head[0] & (head[0] - 1)) == 0;
      if (is_last && is_decided) break;
      const std::size_t before = used_;
      is_wrong_ = false;
      step(body[at], base, owner, nesting + 1);
      if (is_last) break;
      if (full_) {
        head[0] |= ~(bit - 1); // not seen to the end: nothing is decided
      } else if (is_wrong_) {
        used_ = before;
      } else {
        head[0] |= bit;
      }
      bit <<= 1;
    }
    is_wrong_ = was_wrong;
    __builtin_memcpy(into, head, sizeof head);
  }

  // Arguments behind a format.

  /// Hands out variadic arguments in order: from the call's words, or from a va_list (psABI 3.5.7).
  struct ArgumentSource {
    Place integers, vectors, stack;
    std::uint64_t integers_left, vectors_left; ///< bytes
    std::uint64_t vector_stride;
    std::uint64_t word;

    Place take(const FormatArgument& argument) {
      const bool is_float =
          argument.tag == ArgumentTag::Float || argument.tag == ArgumentTag::HexFloat;
      if (is_float && argument.size == 16) {
        if (word == 8 && stack.at % 16 != 0) stack.at += 8; // psABI: aligned to 16
        return take_stack(word == 8 ? 16 : 12);
      }
      if (is_float && vectors_left > 0) {
        const Place at = vectors;
        vectors.at += vector_stride;
        vectors_left -= vector_stride;
        return at;
      }
      if (!is_float && integers_left > 0) {
        const Place at = integers;
        integers.at += 8;
        integers_left -= 8;
        return at;
      }
      const bool is_double_word = word == 4 && argument.size == 8;
      return take_stack(is_double_word ? 8 : word);
    }

  private:
    Place take_stack(std::uint64_t size) {
      const Place at = stack;
      stack.at += size;
      return at;
    }
  };

  /// The call's words begin at `words_at` (kKeptWordsAt at the return).
  ArgumentSource arguments_of_call(const CaptureOp& op, std::uint64_t words_at) const {
    const std::uint64_t integers = (op.length_at & 0xff) * 8;
    const std::uint64_t vectors = (op.length_at >> 8 & 0xff) * 8;
    const std::uint64_t stack = op.length_at >> 16;
    const std::uint64_t word = op.size == 4 ? 4 : 8;
    const bool on_stack = word == 4;
    return {{true, words_at + integers},
            {true, words_at + kVectorWordsAt + vectors},
            {true, words_at + kStackWordsAt + stack},
            on_stack || integers > kVectorWordsAt ? 0 : kVectorWordsAt - integers,
            on_stack || vectors > kStackWordsAt - kVectorWordsAt
                ? 0
                : kStackWordsAt - kVectorWordsAt - vectors,
            8,
            word};
  }

  void end_arguments(std::uint64_t count, bool complete = true) {
    put_word(count, complete ? FieldState::Whole : FieldState::Cut, 0);
  }

  void print_arguments(const CaptureOp& op, Place place) {
    print(op, place, arguments_of_call(op, 0));
  }

  void print_list(const CaptureOp& op, Place place) {
    // struct { unsigned gp_offset, fp_offset; void *overflow_arg_area, *reg_save_area; }
    std::uint64_t list = 0;
    struct {
      std::uint32_t gp_offset, fp_offset;
      std::uint64_t overflow_arg_area, reg_save_area;
    } fields;
    if (!read_number({true, op.length_at}, 8, list) || list == 0 ||
        memory_.read(list, reinterpret_cast<std::byte*>(&fields), sizeof fields) != sizeof fields)
      return end_arguments(0);
    constexpr std::uint32_t kIntegersEnd = 48, kVectorsEnd = 176;
    const std::uint32_t vectors = fields.fp_offset < kIntegersEnd || fields.fp_offset > kVectorsEnd
                                      ? kVectorsEnd
                                      : fields.fp_offset;
    ArgumentSource source = {{false, fields.reg_save_area + fields.gp_offset},
                             {false, fields.reg_save_area + vectors},
                             {false, fields.overflow_arg_area},
                             fields.gp_offset < kIntegersEnd ? kIntegersEnd - fields.gp_offset : 0,
                             kVectorsEnd - vectors,
                             16,
                             8};
    source.integers_left = source.integers_left / 8 * 8;
    source.vectors_left = source.vectors_left / 16 * 16;
    print(op, place, source);
  }

  void print(const CaptureOp& op, Place place, ArgumentSource source) {
    std::uint64_t format = 0;
    if (!read_number(place, source.word, format) || format == 0) return end_arguments(0);
    FormatSource<Memory> bytes(memory_, format, op.element_size);
    const FormatArguments arguments =
        FormatParser<FormatSource<Memory>>(bytes, static_cast<std::uint8_t>(source.word))
            .parse_print();
    Place places[kMostFormatArguments];
    for (std::size_t at = 0; at < arguments.count; ++at)
      places[at] = source.take(arguments.list[at]);
    for (std::size_t at = 0; at < arguments.count && !full_; ++at) {
      const FormatArgument& argument = arguments.list[at];
      const auto tag = static_cast<unsigned>(argument.tag);
      const bool wide = argument.tag == ArgumentTag::WideText;
      if (argument.tag != ArgumentTag::Text && !wide) {
        value(places[at], argument.size, tag);
        continue;
      }
      std::int32_t precision = argument.precision;
      if (argument.precision_argument != kNoArgument) {
        std::uint64_t number = 0;
        if (read_number(places[argument.precision_argument], sizeof precision, number))
          precision = static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
      }
      // Of wide text a precision counts the bytes made of it: none of fewer characters is looked
      // at.
      const std::uint64_t length =
          precision < 0 ? kUnlimited : static_cast<std::uint64_t>(precision);
      text_behind(places[at], source.word, wide ? 4 : 1, op.limit, length, true, tag);
    }
    if (!full_) end_arguments(arguments.count, arguments.complete && !bytes.is_cut());
  }

  void text_behind(Place place, std::size_t word, std::size_t unit, std::size_t limit,
                   std::uint64_t length, bool to_zero, unsigned tag) {
    std::uint64_t pointer = 0;
    if (!read_number(place, word, pointer)) return no_pointer(tag);
    if (pointer == 0) return put_word(pointer, FieldState::Unreadable, tag);
    text({false, pointer}, unit, limit, length, to_zero, tag);
  }

  /// What scanf stored: of as many arguments as its result says, the others as pointers.
  void scan_arguments(const CaptureOp& op, Place place) {
    ArgumentSource source = arguments_of_call(op, kKeptWordsAt);
    std::uint64_t format = 0, result = 0;
    (void)read_number({true, 0}, 4, result);
    if (!read_number(place, source.word, format) || format == 0) return end_arguments(0);
    FormatSource<Memory> bytes(memory_, format, op.element_size);
    const FormatArguments arguments =
        FormatParser<FormatSource<Memory>>(bytes, static_cast<std::uint8_t>(source.word))
            .parse_scan();
    const auto stored = static_cast<std::int32_t>(result);
    for (std::size_t at = 0; at < arguments.count && !full_; ++at) {
      const FormatArgument& argument = arguments.list[at];
      FormatArgument pointer;
      pointer.size = static_cast<std::uint8_t>(source.word);
      const Place where = source.take(pointer);
      if (is_stored(argument, stored))
        scanned(op, argument, where, source.word);
      else
        value(where, source.word, static_cast<unsigned>(ArgumentTag::Pointer));
    }
    if (!full_) end_arguments(arguments.count, arguments.complete && !bytes.is_cut());
  }

  /// `stored`: what scanf returned.
  static bool is_stored(const FormatArgument& argument, std::int32_t stored) {
    if (argument.tag == ArgumentTag::Count)
      return stored > argument.ordinal || (stored == argument.ordinal && argument.is_certain);
    // Of the last %5c nobody says how many characters there were.
    const bool unknown_size = argument.tag == ArgumentTag::Buffer && argument.precision > 1;
    return argument.ordinal > 0 &&
           (unknown_size ? argument.ordinal < stored : argument.ordinal <= stored);
  }

  void scanned(const CaptureOp& op, const FormatArgument& argument, Place where, std::size_t word) {
    std::uint64_t pointer = 0;
    (void)read_number(where, word, pointer);
    Place behind = {false, pointer};
    if (argument.allocates) { // a pointer to the pointer
      where = behind;
      (void)read_number(where, word, pointer);
      behind = {false, pointer};
    }
    const auto tag = static_cast<unsigned>(argument.tag);
    switch (argument.tag) {
      case ArgumentTag::Text: return text_behind(where, word, 1, op.limit, kUnlimited, true, tag);
      case ArgumentTag::WideText:
        return text_behind(where, word, 4, op.limit, kUnlimited, true, tag);
      case ArgumentTag::Buffer:
        return text_behind(where, word, 1, op.limit, static_cast<std::uint64_t>(argument.precision),
                           false, static_cast<unsigned>(ArgumentTag::Buffer));
      case ArgumentTag::WideCharacter: return value(behind, 4, tag);
      case ArgumentTag::Count:
        return value(behind, argument.size, static_cast<unsigned>(ArgumentTag::Signed));
      default: return value(behind, argument.size, tag);
    }
  }

  const CallWords& words_;
  Memory& memory_;
  std::byte* out_;
  std::size_t room_;
  std::size_t used_ = 0;
  bool full_ = false;
  bool is_wrong_ = false; ///< something can't be what the plan takes it for
  std::uint64_t enclosing_[kDeepestCapture]; ///< the first enclosing_count_ of them
  unsigned enclosing_count_ = 0;
};

template <class Memory>
std::size_t run_capture(const CaptureOp* ops, std::size_t count, const CallWords& words,
                        Memory& memory, std::byte* out, std::size_t room) {
  CaptureInterpreter<Memory> interpreter(words, memory, out, room);
  interpreter.run(ops, count);
  return interpreter.used();
}

} // namespace sonictrace::wire
