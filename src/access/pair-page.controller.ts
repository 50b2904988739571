import { createHash } from 'node:crypto';
import { Controller, Get, Header, Query } from '@nestjs/common';
import { Public, readUserCode } from '../clients/index.js';
import { DescribeRoute, Tag, text } from '../openapi/index.js';

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}' +
  'code{font:1.1em ui-monospace,monospace;background:#8882;padding:.1em .4em;border-radius:.3em}' +
  'strong{font:2.5rem ui-monospace,monospace;letter-spacing:.1em}';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * Where a program sends its user (RFC 8628 3.3). The page decides nothing and looks nothing up: it shows the code that it
 * was opened with and the command by which the owner approves it.
 */
@Tag('Pairing')
@Controller('pair')
export class PairPageController {
  @Get()
  @Public()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', POLICY)
  @DescribeRoute({
    id: 'pairPage',
    summary: 'Shows people how to let a program in',
    query: { user_code: text('The code to show') },
    answers: { 200: { description: 'A page', schema: text(), contentType: 'text/html' } },
  })
  page(@Query('user_code') typed: unknown): string {
    const code = typeof typed === 'string' ? readUserCode(typed) : null;
    // Nothing else of the request is shown, and a code is letters and a hyphen.
    const shown = code === null ? '' : `<p>A program shows you this code:</p><p><strong>${code}</strong></p>`;
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pair a program</title><style>${STYLE}</style></head>
<body><h1>Pair a program</h1>${shown}
<p>Approve it only if you have just started that program yourself and it shows the same code. In a terminal:</p>
<p><code>lmsp pair approve ${code ?? 'CODE'}</code></p>
<p>or turn it away with <code>lmsp pair deny ${code ?? 'CODE'}</code>. Whatever you do not decide on ends after ten minutes.</p>
</body></html>
`;
  }
}
