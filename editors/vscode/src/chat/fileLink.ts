/**
 * Links to files, as models write them: `src/app.py`, `./app.py#L12`, `app.py:12:3`, `file:///project/app.py`, and on
 * Windows `src\app.py`, `C:\project\app.py`, `file:///C:/project/app.py`.
 */

export interface FileLink {
  /** As in a URI: with slashes, and `/c:/` for a drive. */
  readonly path: string;
  /** From 0. */
  readonly line: number;
}

export function fileLink(href: string): FileLink {
  const found = /^(.*?)(?:(?:#L|:)(\d+)(?:[-:,].*)?)?$/.exec(href.replace(/^file:\/\//i, ""));
  return { path: sameDrive(decoded(found?.[1] ?? "").replaceAll("\\", "/")), line: Number(found?.[2] ?? 1) - 1 };
}

/** The path with its drive written in the one way that can be compared. */
export function sameDrive(path: string): string {
  return path.replace(/^\/?([a-z]:\/)/i, (_, drive: string) => `/${drive.toLowerCase()}`);
}

/** The text without `%20` and the like; as it is where it is not encoded. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
