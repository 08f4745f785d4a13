// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/operators/recurrent_steps.h"

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/layers.h"

namespace deuteron::onnx {
namespace {

class WriteOut {
 public:
  WriteOut(Call& c, const Recurrence& l, const Operand& h, const Operand& cell)
      : c_(c), l_(l), h_(view(c, h, {l.batch, l.hidden}, "h")) {
    if (cell) cell_ = view(c, cell, {l.batch, l.hidden}, "cell");
  }

  WrittenOut run(const Operand& x) {
    const i64 gates = c_.ok() ? c_.shape(l_.w)[0] / l_.hidden : 0;
    const bool adds_inside = gates == 3 && !l_.resets_first;  // the bias of a GRU's last product
    Operand bias = l_.wb;
    if (l_.rb && !adds_inside) bias = sum(c_, l_.wb, l_.rb, "bias");
    const Operand seen = fully_connected(c_, x, l_.w, bias, "seen");
    WrittenOut all;
    all.states.resize(static_cast<size_t>(l_.steps));
    for (i64 k = 0; k < l_.steps && c_.ok(); ++k) {
      const i64 t = l_.backward ? l_.steps - 1 - k : k;
      const Operand now =
          view(c_, sliced(c_, seen, 0, t, t + 1, 1, "step"), {l_.batch, gates * l_.hidden}, "step");
      if (gates == 4) lstm(now);
      else if (gates == 3) gru(now);
      else h_ = function(0, sum(c_, now, kept(l_.r, {}, h_), "both"), "state");
      all.states[static_cast<size_t>(t)] = state(h_);
    }
    all.last = state(h_);
    if (cell_) all.cell = state(cell_);
    return all;
  }

 private:
  Operand state(const Operand& x) { return view(c_, x, {1, l_.batch, l_.hidden}, "state"); }
  Operand kept(const Operand& weight, const Operand& bias, const Operand& h) {
    return fully_connected(c_, h, weight, bias, "kept");
  }
  Operand clipped(const Operand& x) {
    return l_.clip > 0 ? clamped(c_, x, -l_.clip, l_.clip, "clipped") : x;
  }
  Operand function(size_t k, const Operand& x, const char* suffix) {
    return activated(c_, clipped(x), l_.functions[k].name, l_.functions[k].numbers, suffix);
  }
  Operand gate(const Operand& all, i64 k, const char* suffix) {
    return sliced(c_, all, 1, k * l_.hidden, (k + 1) * l_.hidden, 1, suffix);
  }
  // Rows `first` to `end` of gates of a weight or bias.
  Operand rows(const Operand& x, i64 first, i64 end, const char* suffix) {
    return x ? sliced(c_, x, 0, first * l_.hidden, end * l_.hidden, 1, suffix) : Operand{};
  }
  Operand with_peephole(const Operand& x, i64 k, const Operand& cell) {
    if (!l_.peepholes) return x;
    const Operand factor = rows(l_.peepholes, k, k + 1, "peephole");
    return sum(c_, x, product(c_, factor, cell, "seen_cell"), "with_cell");
  }

  void lstm(const Operand& now) {
    const Operand both = sum(c_, now, kept(l_.r, {}, h_), "both");
    const Operand in = function(0, with_peephole(gate(both, 0, "i"), 0, cell_), "in");
    const Operand forget = l_.couples
                               ? shifted(c_, scaled(c_, in, -1, "negative"), 1, "forget")
                               : function(0, with_peephole(gate(both, 1, "f"), 2, cell_), "forget");
    const Operand fresh = function(1, gate(both, 2, "g"), "new");
    const Operand held = product(c_, forget, cell_, "held");
    cell_ = sum(c_, held, product(c_, in, fresh, "added"), "cell");
    const Operand out = function(0, with_peephole(gate(both, 3, "o"), 1, cell_), "out");
    const Activation& show = l_.functions[2];  // of cells, which are not clipped
    h_ = product(c_, out, activated(c_, cell_, show.name, show.numbers, "shown"), "state");
  }

  void gru(const Operand& now) {
    const Operand of_gates = rows(l_.r, 0, 2, "gates_weight"), of_new = rows(l_.r, 2, 3, "weight");
    const bool inside = !l_.resets_first;
    const Operand step = sliced(c_, now, 1, 0, 2 * l_.hidden, 1, "gates");
    const Operand both = sum(
        c_, step, kept(of_gates, inside ? rows(l_.rb, 0, 2, "gates_bias") : Operand{}, h_), "both");
    const Operand reset = function(0, gate(both, 0, "r"), "reset"),
                  update = function(0, gate(both, 1, "z"), "update");
    const Operand left =
        inside ? product(c_, reset, kept(of_new, rows(l_.rb, 2, 3, "new_bias"), h_), "left")
               : kept(of_new, {}, product(c_, reset, h_, "left"));
    const Operand fresh = function(1, sum(c_, gate(now, 2, "n"), left, "candidate"), "new");
    h_ = sum(c_, fresh, product(c_, update, difference(c_, h_, fresh, "apart"), "held"), "state");
  }

  Call& c_;
  const Recurrence& l_;
  Operand h_, cell_;
};

}  // namespace

WrittenOut written_out(Call& c, const Recurrence& l, const Operand& x, const Operand& h,
                       const Operand& cell) {
  return WriteOut(c, l, h, cell).run(x);
}

}  // namespace deuteron::onnx
