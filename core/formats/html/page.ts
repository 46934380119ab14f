import { POLICY, SCRIPT } from './client'
import { escapeHtml } from './escape'
import { STYLE } from './style'

/** A whole page with the report's style, script and policy around a body of safe HTML. */
export const pageHtml = (title: string, body: string, extraStyle = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}${extraStyle}</style>
</head>
<body>
${body}
<script>${SCRIPT}</script>
</body>
</html>
`
