// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.
export const grouped = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

export function short(n) {
  if (n === undefined || n === null) return "";
  const size = Math.abs(n);
  for (const [limit, unit] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]])
    if (size >= limit) {
      const v = n / (unit === "k" ? 1e3 : limit);
      return `${v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2)}\u202f${unit}`;
    }
  return Number.isInteger(n) || size >= 100 ? grouped(n) : n.toFixed(2);
}

export function bytes(n) {
  if (n === undefined || n === null) return "";
  if (n >= 1 << 20) return `${(n / (1 << 20)).toFixed(2)}\u202fMiB`;
  if (n >= 10240) return `${(n / 1024).toFixed(1)}\u202fKiB`;
  return `${grouped(n)}\u202fB`;
}

export const percent = (share) => `${(100 * share).toFixed(share >= 0.0995 ? 1 : 2)}\u202f%`;

// Ticks of a clock, as time where the clock tells its rate.
export function ticks(n, clock) {
  if (clock && clock.ticks_per_second && clock.unit !== "instructions") return time(n / clock.ticks_per_second);
  return `${short(n)} ${clock ? clock.unit : "ticks"}`;
}

export function time(seconds) {
  for (const [limit, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) if (seconds >= limit) return `${(seconds / limit).toPrecision(3)}\u202f${unit}`;
  return `${(seconds * 1e9).toPrecision(3)}\u202fns`;
}

export const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;
