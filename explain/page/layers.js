// SPDX-License-Identifier: Apache-2.0
// A small stand-in for elkjs, for pages that must be light: layers from the top by the longest way to each node, in the order of their readers.
// The interface is that of elkjs which graph.js uses; a long graph becomes columns where it may be wrapped.
const kGap = { x: 22, y: 30 }, kPad = 12;

export default class Layers {
  async layout(graph) {
    const nodes = new Map(graph.children.map((n) => [n.id, { ...n, layer: 0, from: [] }]));
    const edges = graph.edges.map((e) => ({ ...e, a: nodes.get(e.sources[0]), b: nodes.get(e.targets[0]) }));
    for (const e of edges) e.b.from.push(e.a);
    for (const n of nodes.values()) n.layer = n.from.reduce((most, a) => Math.max(most, a.layer + 1), 0);  // operators come in an order that can run
    const layers = [];
    for (const n of nodes.values()) (layers[n.layer] ||= []).push(n);
    // A layer lies centred, its nodes in the order of the middle of what they read.
    const place = (layer) => {
      for (const n of layer) n.want = n.from.length ? n.from.reduce((sum, a) => sum + a.x + a.width / 2, 0) / n.from.length : 0;
      layer.sort((p, q) => p.want - q.want);
      const width = layer.reduce((sum, n) => sum + n.width + kGap.x, -kGap.x);
      let x = layer.reduce((sum, n) => sum + n.want, 0) / layer.length - width / 2;
      for (const n of layer) {
        n.x = x;
        x += n.width + kGap.x;
      }
    };
    layers.forEach(place);
    const height = Math.max(...graph.children.map((n) => n.height)) + kGap.y;
    const all = [...nodes.values()];
    const left = Math.min(...all.map((n) => n.x)), width = Math.max(...all.map((n) => n.x + n.width)) - left;
    const aspect = Number(graph.layoutOptions["elk.aspectRatio"] || 0);
    const columns = aspect ? Math.max(1, Math.round(Math.sqrt((aspect * layers.length * height) / (width + 60)))) : 1;
    const rows = Math.ceil(layers.length / columns);
    for (const n of all) {
      n.column = Math.floor(n.layer / rows);
      n.x += kPad - left + n.column * (width + 60);
      n.y = kPad + (n.layer % rows) * height;
    }
    for (const e of edges) {
      const from = { x: e.a.x + e.a.width / 2, y: e.a.y + e.a.height }, to = { x: e.b.x + e.b.width / 2, y: e.b.y };
      const turn = to.y - kGap.y / 2;
      let bends = [{ x: from.x, y: turn }, { x: to.x, y: turn }];
      if (e.a.column !== e.b.column) {  // down, across between two columns, up
        const low = from.y + kGap.y / 2, between = kPad + e.b.column * (width + 60) - 30;
        bends = [{ x: from.x, y: low }, { x: between, y: low }, { x: between, y: turn }, { x: to.x, y: turn }];
      }
      e.sections = [{ startPoint: from, bendPoints: bends, endPoint: to }];
    }
    return { children: all.map(({ id, x, y, width: w, height: h }) => ({ id, x, y, width: w, height: h })), edges,
      width: columns * (width + 60) - 60 + 2 * kPad, height: rows * height - kGap.y + 2 * kPad };
  }
}
