// SPDX-License-Identifier: Apache-2.0
#include "write/pte/pte.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ir/states.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"
#include "write/pte/constants.h"
#include "write/pte/segments.h"
#include "write/pte/values.h"

namespace deuteron {
namespace {

using flatbuffers::Offset;

class ProgramWriter {
 public:
  ProgramWriter(const Graph& graph, const MemoryPlan& plan, std::span<const std::string> notes)
      : graph_(graph), plan_(plan), notes_(notes) {
    DEUTERON_CHECK(plan.offset.size() == graph.values.size());
    find_roots();
  }

  std::vector<uint8_t> write(Isa isa, PteParts* parts) {
    collect_constants();
    collect_states();
    const ConstantSegment constants = lay_out_constants(constant_bytes_);
    lay_out_segments(constants);
    const std::vector<uint8_t> program = write_program(isa, constants);
    return assemble(program, constants, parts);
  }

 private:
  // What nobody reads is scratch: one value for all of a kind.
  void find_roots() {
    root_ = plan_.root;
    is_read_.resize(graph_.values.size());
    for (const Node& node : graph_.nodes)
      if (call_of(node.op))
        for (const ValueId v : node.inputs) is_read_[root_[v]] = true;
    for (const Port& p : graph_.inputs) is_read_[root_[p.value]] = true;
    for (const Port& p : graph_.outputs) is_read_[root_[p.value]] = true;
  }

  void collect_constants() {
    constant_index_.assign(graph_.values.size(), 0);
    const auto use = [&](ValueId v) {
      const ValueId root = root_[v];
      if (!graph_.is_constant(root) || constant_index_[root] != 0) return;
      constant_bytes_.push_back(graph_.values[root].constant->bytes);
      // entry 0 of the table is a placeholder
      constant_index_[root] = static_cast<i64>(constant_bytes_.size());
    };
    for (const Node& node : graph_.nodes)
      if (const auto* call = call_of(node.op))
        for (const KernelArg& arg : call->args) {
          if (arg.kind == KernelArg::Kind::input) use(node.inputs[arg.integer]);
          if (arg.kind == KernelArg::Kind::inputs)
            for (const i64 operand : arg.integers)
              if (operand >= 0) use(node.inputs[operand]);
        }
    for (const Port& port : graph_.outputs) use(port.value);
    move_copied_first();
  }

  // Constants that are copied into the same buffer lie together, so that one copy takes them all.
  void move_copied_first() {
    if (plan_.placement.buffers.empty()) return;
    std::vector<i64> buffer(constant_bytes_.size());  // by constant; behind all buffers: it stays
    for (size_t v = 0; v < constant_index_.size(); ++v)
      if (const i64 k = constant_index_[v]; k > 0)
        buffer[static_cast<size_t>(k - 1)] = plan_.placement.copied_to[v] < 0
                                                 ? static_cast<i64>(plan_.placement.buffers.size())
                                                 : plan_.placement.copied_to[v];
    std::vector<size_t> order(buffer.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return buffer[a] < buffer[b]; });
    std::vector<std::span<const std::byte>> bytes;
    std::vector<i64> place(buffer.size());
    for (size_t k = 0; k < order.size(); ++k) {
      bytes.push_back(constant_bytes_[order[k]]);
      place[order[k]] = static_cast<i64>(k) + 1;
      copied_.push_back(buffer[order[k]]);
    }
    constant_bytes_ = std::move(bytes);
    for (i64& index : constant_index_)
      if (index > 0) index = place[static_cast<size_t>(index - 1)];
  }

  // What each buffer gets of the constant segment when the program is loaded: docs/runtime.md.
  void write_buffers(const ConstantSegment& constants) {
    std::string names;
    for (const PlannedBuffer& b : plan_.placement.buffers)
      names += (names.empty() ? "" : ",") + b.memory;
    if (names.empty()) return;
    values_.string("deuteron:memories=" + names);
    for (size_t b = 0; b < plan_.placement.buffers.size(); ++b) {
      uint64_t begin = constants.bytes, end = 0;
      for (size_t k = 0; k < copied_.size(); ++k)
        if (copied_[k] == static_cast<i64>(b)) {
          begin = std::min(begin, constants.offsets[k]);
          end = std::max<uint64_t>(end, constants.offsets[k] + constant_bytes_[k].size());
        }
      if (begin >= end) continue;
      const PlannedBuffer& buffer = plan_.placement.buffers[b];
      DEUTERON_CHECK(static_cast<i64>(end - begin) <= buffer.bytes - buffer.copies_at,
                     buffer.memory);
      values_.string(
          fmt::format("deuteron:copy={},{},{},{}", b + 1, buffer.copies_at, begin, end - begin));
    }
  }

  // What each state begins with, which the loader copies: one after the other.
  void collect_states() {
    for (size_t k = 0; k < graph_.states.size(); ++k) {
      state_of_[graph_.state_inputs()[k].value] = static_cast<i64>(k) + 1;
      const Constant initial = initial_contents(graph_, k);
      state_bytes_.resize(aligned_segment(state_bytes_.size()));
      state_offsets_.push_back(state_bytes_.size());
      const auto* bytes = reinterpret_cast<const uint8_t*>(initial.bytes.data());
      state_bytes_.insert(state_bytes_.end(), bytes, bytes + initial.bytes.size());
    }
  }

  // The constants, then each distinct payload, then what states begin with; every one begins at a
  // multiple of the alignment.
  void lay_out_segments(const ConstantSegment& constants) {
    const auto add = [&](size_t bytes) {
      segment_bytes_ = aligned_segment(segment_bytes_);
      segments_.emplace_back(bytes == 0 ? 0 : segment_bytes_, bytes);
      segment_bytes_ += bytes;
    };
    add(constants.bytes);
    std::vector<const DelegateBlob*> distinct;
    for (const Node& node : graph_.nodes) {
      const auto* call = call_of(node.op);
      if (!call || !call->delegate) continue;
      const auto same = std::find_if(distinct.begin(), distinct.end(), [&](const DelegateBlob* d) {
        return d->processed == call->delegate->processed;
      });
      delegates_.emplace_back(call->delegate.get(),
                              static_cast<uint32_t>(same - distinct.begin()) + 1);
      if (same != distinct.end()) continue;
      distinct.push_back(call->delegate.get());
      add(call->delegate->processed.size());
    }
    before_states_ = segment_bytes_;
    if (!graph_.states.empty()) add(state_bytes_.size());
  }

  std::vector<Offset<pte::BackendDelegate>> write_delegates() {
    constexpr int8_t kInSegment = 1;
    std::vector<Offset<pte::BackendDelegate>> tables;
    for (const auto& [blob, segment] : delegates_) {
      std::vector<Offset<pte::CompileSpec>> options;
      // One statement for each object: in a list of arguments every compiler writes them in an
      // order of its own.
      for (const auto& [key, value] : blob->options) {
        const auto value_at =
            builder_.CreateVector(reinterpret_cast<const uint8_t*>(value.data()), value.size());
        options.push_back(
            pte::CreateCompileSpec(builder_, builder_.CreateSharedString(key), value_at));
      }
      const auto processed = pte::CreateBackendDelegateDataReference(builder_, kInSegment, segment);
      const auto options_at = builder_.CreateVector(options);
      tables.push_back(pte::CreateBackendDelegate(builder_, builder_.CreateSharedString(blob->id),
                                                  processed, options_at));
    }
    return tables;
  }

  // Constants with one place in the file have one entry.
  std::vector<uint64_t> number_offsets(const ConstantSegment& constants) {
    std::vector<uint64_t> table = {0};
    std::map<uint64_t, i64> entry;
    std::vector<i64> renumbered = {0};
    for (const uint64_t offset : constants.offsets) {
      const auto [it, added] = entry.emplace(offset, static_cast<i64>(table.size()));
      if (added) table.push_back(offset);
      renumbered.push_back(it->second);
    }
    for (i64& index : constant_index_) index = renumbered[index];
    return table;
  }

  i32 tensor(ValueId v, const Face& face) {
    const ValueId root = root_[v];
    const Type& type = graph_.type(v);
    DEUTERON_CHECK(
        numel(face.sizes) == type.elements(),
        fmt::format("{}: [{}] as [{}]", graph_.values[v].name, to_text(type), to_text(face.sizes)));
    TensorPlace place{type.dtype, face, constant_index_[root], 0, -1};
    if (place.constant == 0) {
      DEUTERON_CHECK(plan_.offset[v] >= plan_.offset[root] && plan_.offset[root] >= 0,
                     graph_.values[v].name);
      place.offset = plan_.offset[v];
      for (size_t b = 1; b < plan_.placement.buffers.size() &&
                         plan_.placement.buffers[b].begin <= plan_.offset[v];
           ++b) {
        place.buffer = static_cast<i64>(b) + 1;
        place.offset = plan_.offset[v] - plan_.placement.buffers[b].begin;
      }
      place.owner = is_read_[root] ? root : kScratch;
      const auto state = state_of_.find(root);
      const bool is_whole = state != state_of_.end() && plan_.offset[v] == plan_.offset[root] &&
                            type.dtype == graph_.type(root).dtype;
      if (is_whole && face == plain_face(graph_.type(root).shape)) place.initial = state->second;
    }
    return values_.tensor(place);
  }

  i32 port(const Port& p) {
    return tensor(p.value, {logical_shape(p, graph_.type(p.value).shape), p.order});
  }

  // Whether the kernel's list may have places without a tensor.
  static bool takes_none(const KernelCall& call, const KernelArg& arg) {
    const Kernel* kernel = kernel_of(call);
    return kernel && kernel->schema[&arg - call.args.data()] == 'v';
  }

  i32 argument(const Node& node, const KernelArg& arg) {
    switch (arg.kind) {
      case KernelArg::Kind::input:
        return tensor(node.inputs[arg.integer], arg.face);
      case KernelArg::Kind::output:
        return tensor(node.outputs[arg.integer], arg.face);
      case KernelArg::Kind::integer:
        return values_.integer(arg.integer);
      case KernelArg::Kind::real:
        return values_.real(arg.real);
      case KernelArg::Kind::boolean:
        return values_.boolean(arg.integer != 0);
      case KernelArg::Kind::integers:
        return values_.integers(arg.integers);
      case KernelArg::Kind::inputs: {
        std::vector<i32> items;
        for (const i64 operand : arg.integers)
          items.push_back(operand < 0
                              ? -1
                              : tensor(node.inputs[operand],
                                       plain_face(graph_.type(node.inputs[operand]).shape)));
        return takes_none(*call_of(node.op), arg) ? values_.optional_tensors(items)
                                                  : values_.tensors(items);
      }
      case KernelArg::Kind::none:
        return values_.null();
    }
    DEUTERON_CHECK(false);
  }

  // The operator called most often comes first: index 0 is the default and takes no bytes in its
  // calls.
  void number_operators() {
    std::map<std::pair<std::string, std::string>, size_t> known;
    std::vector<std::pair<i64, const KernelCall*>> used;  // calls, the first of them
    std::vector<size_t> use_of_node;
    for (const Node& node : graph_.nodes) {
      const auto* call = call_of(node.op);
      use_of_node.push_back(0);
      if (!call || call->delegate) continue;
      const auto [it, added] = known.emplace(std::pair(call->name, call->overload), used.size());
      if (added) used.emplace_back(0, call);
      ++used[it->second].first;
      use_of_node.back() = it->second;
    }
    std::vector<size_t> order(used.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return used[a].first > used[b].first; });
    std::vector<i32> rank(used.size());
    for (size_t k = 0; k < order.size(); ++k) {
      rank[order[k]] = static_cast<i32>(k);
      operators_.push_back(used[order[k]].second);
    }
    i32 delegate = 0;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto* call = call_of(graph_.nodes[n].op);
      callee_index_.push_back(!call ? -1 : call->delegate ? delegate++ : rank[use_of_node[n]]);
    }
  }

  Offset<pte::Instruction> instruction(size_t n) {
    const Node& node = graph_.nodes[n];
    const auto& call = std::get<KernelCall>(node.op);
    std::vector<i32> args;
    std::optional<i32> last_out;
    bool ends_with_out = false;
    for (const KernelArg& arg : call.args) {
      const i32 index = argument(node, arg);
      args.push_back(index);
      ends_with_out = arg.kind == KernelArg::Kind::output;
      if (ends_with_out) last_out = index;
    }
    if (call.delegate) {
      const auto delegate_call =
          pte::CreateDelegateCall(builder_, callee_index_[n], values_.indexes(args));
      return pte::CreateInstruction(builder_, pte::InstructionUnion::DelegateCall,
                                    delegate_call.Union());
    }
    DEUTERON_CHECK(last_out && (ends_with_out || is_state_write(node.op)), call.name);
    args.push_back(*last_out);  // the return value is the last out once more
    const auto kernel_call =
        pte::CreateKernelCall(builder_, callee_index_[n], values_.indexes(args));
    return pte::CreateInstruction(builder_, pte::InstructionUnion::KernelCall, kernel_call.Union());
  }

  Offset<pte::ExecutionPlan> write_plan(Isa isa, const ConstantSegment& constants) {
    number_operators();
    std::vector<i32> inputs, outputs;
    for (const Port& p : graph_.user_inputs()) {
      DEUTERON_CHECK(!graph_.is_constant(p.value), p.name);
      inputs.push_back(port(p));
      DEUTERON_CHECK(std::find(inputs.begin(), inputs.end() - 1, inputs.back()) == inputs.end() - 1,
                     p.name);
    }
    std::vector<Offset<pte::Instruction>> instructions;
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (callee_index_[n] >= 0) instructions.push_back(instruction(n));
    for (const Port& p : graph_.user_outputs()) outputs.push_back(port(p));
    values_.string(fmt::format("deuteron:isa={}", name_of(isa)));
    write_buffers(constants);
    for (const std::string& note : notes_) values_.string(note);

    const auto none = values_.indexes({});
    const auto chain = pte::CreateChain(builder_, none, none, builder_.CreateVector(instructions));
    std::vector<Offset<pte::Operator>> operators;
    for (const KernelCall* call : operators_) {
      const auto overload_at = builder_.CreateSharedString(call->overload);
      operators.push_back(
          pte::CreateOperator(builder_, builder_.CreateSharedString(call->name), overload_at));
    }
    std::vector<i64> sizes = {0};  // entry 0 is reserved
    if (!plan_.placement.buffers.empty())
      for (const PlannedBuffer& b : plan_.placement.buffers) sizes.push_back(b.bytes);
    else if (plan_.bytes > 0) sizes.push_back(plan_.bytes);
    else if (!graph_.inputs.empty() || !instructions.empty() || !graph_.outputs.empty())
      sizes.push_back(0);  // tensors of no bytes refer to it

    const auto values_at = values_.finish();
    const auto chains_at = builder_.CreateVector(&chain, 1);
    const auto operators_at = builder_.CreateVector(operators);
    const auto delegates_at = builder_.CreateVector(write_delegates());
    const auto sizes_at = builder_.CreateVector(sizes);
    const auto inputs_at = values_.indexes(inputs), outputs_at = values_.indexes(outputs);
    return pte::CreateExecutionPlan(builder_, builder_.CreateSharedString("forward"), 0, values_at,
                                    inputs_at, outputs_at, chains_at, operators_at, delegates_at,
                                    sizes_at);
  }

  std::vector<uint8_t> write_program(Isa isa, const ConstantSegment& constants) {
    const std::vector<uint64_t> offsets = number_offsets(constants);
    const auto plan = write_plan(isa, constants);
    const auto plans = builder_.CreateVector(&plan, 1);
    std::vector<Offset<pte::DataSegment>> tables;
    for (const auto& [offset, size] : segments_)
      tables.push_back(pte::CreateDataSegment(builder_, offset, size));
    const auto segments = builder_.CreateVector(tables);
    Offset<flatbuffers::Vector<Offset<pte::SubsegmentOffsets>>> states = 0;
    if (!graph_.states.empty()) {
      const auto index = static_cast<uint32_t>(segments_.size()) - 1;
      const auto table =
          pte::CreateSubsegmentOffsets(builder_, index, builder_.CreateVector(state_offsets_));
      states = builder_.CreateVector(&table, 1);
    }
    const auto constant_segment =
        pte::CreateSubsegmentOffsets(builder_, 0, builder_.CreateVector(offsets));
    pte::ProgramBuilder program(builder_);
    program.add_execution_plan(plans);
    program.add_segments(segments);
    program.add_constant_segment(constant_segment);
    if (!graph_.states.empty()) program.add_mutable_data_segments(states);
    builder_.Finish(program.Finish(), pte::ProgramIdentifier());
    return {builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize()};
  }

  // To the file at once: constants may be all that the machine has room for.
  void write_segments(const ConstantSegment& constants, uint8_t* to) const {
    write_constants(constant_bytes_, constants, to);
    const auto put_bytes = [&](size_t segment, std::span<const uint8_t> bytes) {
      std::copy(bytes.begin(), bytes.end(), to + segments_[segment].first);
    };
    for (const auto& [blob, segment] : delegates_) put_bytes(segment, blob->processed);
    if (!graph_.states.empty()) put_bytes(segments_.size() - 1, state_bytes_);
  }

  std::vector<uint8_t> assemble(const std::vector<uint8_t>& program,
                                const ConstantSegment& constants, PteParts* parts) const {
    std::vector<uint8_t> file = program;
    size_t padding = 0;
    if (segment_bytes_ > 0) {
      const size_t base = make_room(file, segment_bytes_);
      padding = base - kHeaderBytes - program.size();
      write_segments(constants, file.data() + base);
    }
    if (parts)
      *parts = {static_cast<i64>(file.size() - padding - segment_bytes_),
                static_cast<i64>(constants.bytes + segment_bytes_ - before_states_),
                static_cast<i64>(padding), static_cast<i64>(before_states_ - constants.bytes)};
    return file;
  }

  const Graph& graph_;
  const MemoryPlan& plan_;
  const std::span<const std::string> notes_;
  static constexpr i32 kScratch = -2;  // owner of all scratch tensors
  std::vector<ValueId> root_;          // by value
  std::vector<bool> is_read_;          // by root
  std::vector<i64> constant_index_;    // by root; 0: not a constant of the program
  std::vector<std::span<const std::byte>> constant_bytes_;
  std::vector<i64>
      copied_;  // by constant: the buffer that gets a copy; as many as there are: it stays
  std::map<ValueId, i64> state_of_;  // by value: index into state_offsets_
  std::vector<uint64_t> state_offsets_ = {
      0};  // in the segment of the states; entry 0 is a placeholder
  std::vector<uint8_t> state_bytes_;
  size_t before_states_ = 0;  // of the segments
  flatbuffers::FlatBufferBuilder builder_;
  ValueTable values_{builder_};
  std::vector<const KernelCall*> operators_;
  std::vector<i32> callee_index_;  // by node: operator or delegate; -1: no instruction
  std::vector<std::pair<const DelegateBlob*, uint32_t>>
      delegates_;  // by delegate call, with its segment
  std::vector<std::pair<uint64_t, uint64_t>>
      segments_;  // offset, size; the first holds the constants
  size_t segment_bytes_ = 0;
};

}  // namespace

std::vector<uint8_t> write_pte(const Graph& lowered, const MemoryPlan& plan, Isa isa,
                               PteParts* parts, std::span<const std::string> notes) {
  return ProgramWriter(lowered, plan, notes).write(isa, parts);
}

}  // namespace deuteron
