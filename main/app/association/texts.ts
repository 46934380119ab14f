import { LINK_SCHEME } from '@core/session/links'

/** The media type of a session's file, and the pattern its name follows. */
export const SESSION_TYPE = 'application/vnd.opscope.session+json'
/** How the desktop names the scheme of links to sessions (core/session/links.ts). */
export const LINK_TYPE = `x-scheme-handler/${LINK_SCHEME}`
const SESSION_GLOB = '*.opscope.json'
/** File names, apart from their extensions, under which the desktop knows the app and its file type. */
export const DESKTOP_ID = 'opscope.desktop'
export const MIME_PACKAGE = 'opscope-session.xml'

/** Above that of `*.json`, which is the usual 50. */
const GLOB_WEIGHT = 60

/**
 * One argument of an Exec key, always quoted: within the quotes `"`, `` ` ``, `$` and `\` are escaped, `%` is doubled,
 * and backslashes once more because the value is a string (Desktop Entry Specification 1.5, "The Exec key").
 */
function quoted(argument: string): string {
  if (/[\n\r\0]/.test(argument)) throw new Error(`a program whose path has a line break cannot be registered: ${JSON.stringify(argument)}`)
  const inQuotes = argument.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%')
  return `"${inQuotes.replaceAll('\\', '\\\\')}"`
}

/** The desktop entry of an app that is started by this command; files and links are added to it as URLs. Throws for a line break in it. */
export function desktopEntry(command: readonly string[]): string {
  return `[Desktop Entry]
Type=Application
Version=1.5
Name=Opscope
GenericName=Profiler for tensor operations
Comment=Measure, keep and compare the speed of tensor operations
Exec=${command.map(quoted).join(' ')} %U
Icon=opscope
Terminal=false
Categories=Development;Profiling;
StartupWMClass=Opscope
MimeType=${SESSION_TYPE};${LINK_TYPE};
`
}

/** The file type of a session, for shared-mime-info: JSON by nature, told by its name. */
export function mimePackage(): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="${SESSION_TYPE}">
    <comment>Opscope session</comment>
    <sub-class-of type="application/json"/>
    <glob pattern="${SESSION_GLOB}" weight="${GLOB_WEIGHT}"/>
    <icon name="opscope"/>
  </mime-type>
</mime-info>
`
}

/** A mimeapps.list without Opscope's entries for its own type and links; everything else stays as it is. */
export function withoutOpscope(mimeapps: string): string {
  return mimeapps
    .split('\n')
    .flatMap((line) => {
      const [key, value] = [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1)]
      if (key !== SESSION_TYPE && key !== LINK_TYPE) return [line]
      const others = value.split(';').map((id) => id.trim()).filter((id) => id !== '' && id !== DESKTOP_ID)
      return others.length > 0 ? [`${key}=${others.join(';')};`] : []
    })
    .join('\n')
}
