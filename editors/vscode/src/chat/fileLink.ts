/** Links to files, as models write them: `src/app.py`, `./app.py#L12`, `app.py:12:3`, `file:///project/app.py`. */

export interface FileLink {
  readonly path: string;
  /** From 0. */
  readonly line: number;
}

export function fileLink(href: string): FileLink {
  const found = /^(.*?)(?:(?:#L|:)(\d+)(?:[-:,].*)?)?$/.exec(href.replace(/^file:\/\//i, ""));
  return { path: decoded(found?.[1] ?? ""), line: Number(found?.[2] ?? 1) - 1 };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
