/** Where the server is found, how often it is started again, and which settings it gets. */
import { expect, test, vi } from "vitest";
import { locate, programOf, WrongSetting, type Surroundings } from "../../src/server/locate";
import { Restarts } from "../../src/server/restarts";

vi.mock("vscode", () => ({}));
const { nested } = await import("../../src/server/options");

function around(files: string[], more: Partial<Surroundings> = {}): Surroundings {
  return {
    platform: "linux",
    home: "/home/ada",
    setting: "",
    python: () => Promise.resolve(undefined),
    path: "/usr/bin:/opt/bin",
    privateEnvironment: "/storage/server",
    exists: (file) => Promise.resolve(files.includes(file)),
    ...more,
  };
}

const EVERYWHERE = ["/own/ollm-lsp", "/env/bin/ollm-lsp", "/opt/bin/ollm-lsp", "/storage/server/bin/ollm-lsp"];
const python = (): Promise<string> => Promise.resolve("/env/bin/python");

test("the setting comes first, then the Python environment, PATH, and the extension's own", async () => {
  const sources = [];
  for (let gone = 0; gone < EVERYWHERE.length; gone++) {
    const setting = gone === 0 ? "/own/ollm-lsp" : "";
    sources.push((await locate(around(EVERYWHERE.slice(gone), { setting, python })))?.source);
  }
  expect(sources).toEqual(["setting", "python", "path", "private"]);
  expect(await locate(around([], { python }))).toBeUndefined();
});

test("a setting that names nothing is an error, and nothing else is tried", async () => {
  await expect(locate(around(EVERYWHERE, { setting: "/wrong" }))).rejects.toThrow(WrongSetting);
});

test("a tilde in the setting is the home directory", async () => {
  const found = await locate(around(["/home/ada/bin/ollm-lsp"], { setting: "~/bin/ollm-lsp" }));
  expect(found?.command).toBe("/home/ada/bin/ollm-lsp");
});

test("a relative entry of PATH is not looked into, because it would be a program of the open folder", async () => {
  expect(await locate(around(["bin/ollm-lsp", "./ollm-lsp"], { path: "bin:.:" }))).toBeUndefined();
});

test("programs have other names on Windows", () => {
  expect(programOf("C:\\s", "win32", "python")).toBe("C:\\s\\Scripts\\python.exe");
});

test("a server that ends too often is left alone, until some time has passed", () => {
  const restarts = new Restarts(2, 1000);
  expect([0, 10, 20].map((now) => restarts.mayRestart(now))).toEqual([true, true, false]);
  expect(restarts.mayRestart(2000)).toBe(true);
  restarts.forget();
  expect([2001, 2002, 2003].map((now) => restarts.mayRestart(now))).toEqual([true, true, false]);
});

test("settings with dots become sections", () => {
  expect(
    nested([
      ["model", "m"],
      ["a.b.c", 1],
      ["a.d", []],
    ]),
  ).toEqual({ model: "m", a: { b: { c: 1 }, d: [] } });
});
