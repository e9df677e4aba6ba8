/** Icons of one line weight, drawn here so that no font has to be loaded. */

const PATHS = {
  add: "M8 3v10M3 8h10",
  attach:
    "M13 7.5 7.800 12.700a3 3 0 0 1-4.300-4.300L9 2.900a2 2 0 0 1 2.900 2.900L6.600 11.100a1 1 0 0 1-1.400-1.400L10 4.900",
  back: "M9.5 3.5 5 8l4.5 4.5",
  check: "m3 8.5 3.2 3.2L13 5",
  chevron: "m5 6.5 3 3 3-3",
  close: "m4 4 8 8m0-8-8 8",
  copy: "M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z",
  down: "M8 3v10m-4-4 4 4 4-4",
  edit: "m3 13 .8-3.2L10.5 3 13 5.500 6.2 12.200z",
  error: "M8 2.200a5.800 5.800 0 1 0 0 11.600a5.800 5.800 0 0 0 0-11.600zM8 5v3.600m0 2.200v.2",
  eye: "M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8zm6.500-1.800a1.800 1.800 0 1 0 0 3.600a1.800 1.800 0 0 0 0-3.600z",
  eyeClosed:
    "M2 6.500c1.300 2 3.500 3.300 6 3.300s4.700-1.300 6-3.300M4 8.800l-1.200 1.700M8 9.800v2M12 8.800l1.200 1.700",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  forward: "M6.500 3.500 11 8l-4.500 4.500",
  history: "M3 8a5 5 0 1 0 1.600-3.700M3 2.500v2.700h2.700M8 5.200V8l2 1.500",
  insert: "M3 3v10M6 8h7m-3-3 3 3-3 3",
  kraken:
    "M4.500 8V6.200a3.500 3.500 0 0 1 7 0V8c0 1.400.8 2 2 2M4.500 8c0 1.400-.8 2-2 2M6.500 8.800c0 2.400-.8 3.600-2.300 4.400M9.500 8.800c0 2.400.8 3.600 2.300 4.400M8 9.500v4",
  model: "M8 1.800l5.400 3.100v6.200L8 14.200l-5.400-3.100V4.900zM2.600 4.900 8 8l5.400-3.100M8 8v6.200",
  retry: "M13 8a5 5 0 1 1-1.600-3.700M13 2.500v2.700h-2.700",
  search: "M7 2.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 0 0 0-9zm3.300 7.800L14 14",
  send: "M8 13V3M3.800 7.200 8 3l4.200 4.200",
  stop: "M4.500 4.500h7v7h-7z",
  trash: "M3 4.500h10M6 4.500v-2h4v2M4.500 4.500 5 13.500h6l.5-9M7 7v4M9 7v4",
  warning: "M8 2.500 14 13H2zM8 6.500v3m0 1.700v.2",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon, which says nothing to screen readers: whatever holds it has a label. */
export function icon(name: IconName): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of [
    ["class", `icon icon-${name}`],
    ["viewBox", "0 0 16 16"],
    ["aria-hidden", "true"],
  ] as const)
    svg.setAttribute(key, value);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
