/** The HTML of the chat view: empty but for its own script and style. */

export interface PageParts {
  readonly script: string;
  readonly style: string;
  /** What a content security policy calls the extension's own files. */
  readonly source: string;
  readonly nonce: string;
}

/** Nothing but the extension's own two files is ever loaded or run. */
export function page({ script, style, source, nonce }: PageParts): string {
  const policy = `default-src 'none'; style-src ${source}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Chat</title>
    <link rel="stylesheet" href="${style}">
  </head>
  <body>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>
`;
}
