/** The Python that the user has chosen in the Python extension, where that is installed. */
import * as vscode from "vscode";

/** The part of that extension's interface which is used here. */
interface PythonExtension {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

export async function activePython(): Promise<string | undefined> {
  // An environment inside an untrusted folder is somebody else's program.
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (!extension || !vscode.workspace.isTrusted) return undefined;
  try {
    const { environments } = await extension.activate();
    const active = environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
  } catch {
    return undefined; // another extension's failure must not keep the server from starting
  }
}
