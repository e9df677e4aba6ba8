import { expect, test } from "vitest";
import { moved, type Edit } from "../../../src/chat/movedRange";
import type { Position, Range } from "../../../src/protocol";

type Spot = readonly [line: number, character: number];

function range([line, character]: Spot, [lastLine, last]: Spot): Range {
  return { start: { line, character }, end: { line: lastLine, character: last } };
}

const edit = (start: Spot, end: Spot, text: string): Edit => ({ range: range(start, end), text });
const PINNED = range([40, 4], [60, 8]);

test.each<[string, Edit, Range]>([
  ["lines above move it", edit([2, 0], [2, 0], "a\n".repeat(10)), range([50, 4], [70, 8])],
  ["lines deleted above move it", edit([2, 0], [5, 0], ""), range([37, 4], [57, 8])],
  ["what is typed before it in its line moves it", edit([40, 1], [40, 1], "abc"), range([40, 7], [60, 8])],
  ["a line that is broken just before it moves it", edit([40, 4], [40, 4], "\r\n  "), range([41, 2], [61, 8])],
  ["what is below it changes nothing", edit([60, 8], [70, 0], "a\nb"), PINNED],
  ["lines inside it make it longer", edit([50, 3], [50, 3], "a\nb\n"), range([40, 4], [62, 8])],
  ["lines deleted inside it make it shorter", edit([50, 0], [55, 0], ""), range([40, 4], [55, 8])],
  ["an edit in its last line moves its end", edit([60, 0], [60, 2], "abcde"), range([40, 4], [60, 11])],
  ["all of it replaced is what replaced it", edit([40, 4], [60, 8], "a\nbc"), range([40, 4], [41, 2])],
  ["what replaces its beginning belongs to it", edit([39, 0], [42, 0], "a\n"), range([39, 0], [58, 8])],
  ["what replaces its end belongs to it", edit([58, 0], [62, 2], "a\nbc"), range([40, 4], [59, 2])],
  ["its beginning deleted leaves the rest", edit([39, 0], [42, 0], ""), range([39, 0], [57, 8])],
])("%s", (_, change, expected) => {
  expect(moved(PINNED, [change])).toEqual(expected);
});

test("nothing is left of a range whose text was deleted, whatever comes after", () => {
  expect(moved(PINNED, [edit([40, 4], [60, 8], "")])).toBeUndefined();
  expect(moved(PINNED, [edit([39, 0], [61, 0], ""), edit([39, 0], [39, 0], "a\n")])).toBeUndefined();
});

test("a cursor moves, but never becomes a selection, nor is it lost", () => {
  const cursor = range([40, 4], [40, 4]);
  expect(moved(cursor, [edit([40, 0], [40, 4], "ab")])).toEqual(range([40, 2], [40, 2]));
  expect(moved(cursor, [edit([40, 4], [40, 9], "ab")])).toEqual(cursor);
  expect(moved(cursor, [edit([39, 2], [41, 0], "ab")])).toEqual(range([39, 2], [39, 2]));
});

test("after any edits the range holds all that is left of its text, and nothing of the text around it", () => {
  for (let seed = 1; seed <= 2000; seed += 1) {
    const random = numbers(seed);
    // The letters that stay tell where they come from.
    const before = written("A", random(12), random);
    const inside = `B${written("B", random(12), random)}`;
    let text = before + inside + written("C", random(12), random);
    const pinned = between(text, before.length, before.length + inside.length);
    const edits: Edit[] = [];
    let now: Range | undefined = pinned;
    for (let left = random(5); left > 0; left -= 1) {
      const [start = 0, end = 0] = [random(text.length + 1), random(text.length + 1)].sort((one, other) => one - other);
      const one = { range: between(text, start, end), text: written("x", random(6), random) };
      const held = now && slice(text, now);
      const isOutside = now && (end <= offset(text, now.start) || start >= offset(text, now.end));
      edits.push(one);
      text = text.slice(0, start) + one.text + text.slice(end);
      now = now && moved(now, [one]);
      if (isOutside) expect(now && slice(text, now), `seed ${seed}`).toBe(held);
    }
    const holds = now ? slice(text, now) : "";
    expect(holds.replace(/[^ABC]/g, ""), `seed ${seed}`).toBe(text.replace(/[^B]/g, ""));
    expect(holds === "", `seed ${seed}`).toBe(now === undefined);
    expect(moved(pinned, edits), `seed ${seed}`).toEqual(now);
  }
});

function between(text: string, start: number, end: number): Range {
  return { start: position(text, start), end: position(text, end) };
}

function slice(text: string, { start, end }: Range): string {
  return text.slice(offset(text, start), offset(text, end));
}

function position(text: string, at: number): Position {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

function offset(text: string, { line, character }: Position): number {
  const lines = text.split("\n").slice(0, line);
  return lines.reduce((sum, one) => sum + one.length + 1, character);
}

function written(letter: string, length: number, random: (below: number) => number): string {
  return Array.from({ length }, () => (random(3) === 0 ? "\n" : letter)).join("");
}

/** The same numbers for the same seed, so that a failure can be seen again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
