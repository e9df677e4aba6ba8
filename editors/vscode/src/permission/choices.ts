/** What the user can choose when they are asked, as rows of a list. No editor needed. */
import type { FileChange, OptionId, PermissionOption, PermissionParams } from "../protocol";
import { dollars } from "../words";

/** An answer, or something to do before answering. */
export type Choice =
  | { kind: "answer"; optionId: OptionId }
  | { kind: "feedback" }
  | { kind: "someFiles" }
  | { kind: "editBriefing" }
  | { kind: "review" };

export interface Row {
  choice: Choice;
  icon: string;
  label: string;
  detail?: string;
}

const ICONS: Record<OptionId, string> = {
  allow_once: "check",
  allow_session: "comment-discussion",
  allow_always: "pass-filled",
  reject_once: "close",
  reject_always: "circle-slash",
};

/** Rejecting, where it is offered: what every doubt means. */
export function no(options: readonly PermissionOption[]): OptionId {
  return options.find(({ id }) => id === "reject_once")?.id ?? "reject_once";
}

export function allows(id: OptionId): boolean {
  return id.startsWith("allow");
}

/** The rows of a question. `edited`: the briefing is not what the server proposed any more. */
export function rows(params: PermissionParams, edited: boolean): Row[] {
  const answers = params.options.map(({ id, label }): Row => ({
    choice: { kind: "answer", optionId: id },
    icon: ICONS[id],
    label,
  }));
  const [yes, noes] = [answers.filter(isYes), answers.filter((row) => !isYes(row))];
  const isRelease = params.estimate !== undefined;
  const words: Row = { choice: { kind: "feedback" }, icon: "comment", label: "Reject with feedback…" };
  const some: Row = {
    choice: { kind: "someFiles" },
    icon: "list-selection",
    label: "Allow only some of the files…",
  };
  const edit: Row = {
    choice: { kind: "editBriefing" },
    icon: "edit",
    label: edited ? "Edit again what is shared" : "Edit what is shared",
    ...(edited ? { detail: "Your changes are what will be sent" } : {}),
  };
  return [
    ...yes,
    ...(isRelease && params.briefing !== undefined ? [edit] : []),
    ...((params.changes?.length ?? 0) > 1 ? [some] : []),
    ...noes,
    ...(isRelease ? [] : [words]),
    {
      choice: { kind: "review" },
      icon: "eye",
      label: "Review first",
      detail: "Answer by the buttons above the editor",
    },
  ];
}

function isYes({ choice }: Row): boolean {
  return choice.kind === "answer" && allows(choice.optionId);
}

/** What stands beside the title: for a release, the most it can cost; for changes, how many files. */
export function summary(params: PermissionParams): string {
  const { estimate, changes } = params;
  if (estimate) {
    const { amount, known } = estimate.cost;
    const cost = amount > 0 ? `, up to ${dollars(amount)}${known ? "" : " (price unknown)"}` : "";
    return `about ${estimate.tokens.toLocaleString("en")} tokens${cost}`;
  }
  if (!changes?.some(({ diff }) => diff)) return "";
  const { added, removed } = lines(changes);
  const files = changes.length > 1 ? `${changes.length} files, ` : "";
  return `${files}+${added} −${removed}`;
}

function lines(changes: readonly FileChange[]): { added: number; removed: number } {
  const all = changes.flatMap(({ diff }) => diff.split("\n"));
  const count = (sign: string): number =>
    all.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return { added: count("+"), removed: count("-") };
}
