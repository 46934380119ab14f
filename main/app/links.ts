import { shell } from 'electron'

/** Everything the app ever opens in the user's browser. */
const LINKS = {
  webgpu: 'https://www.w3.org/TR/webgpu/',
  licence: 'https://opensource.org/license/mit',
} as const satisfies Record<string, `https://${string}`>

/** Opens a known page in the user's browser. The only caller of shell.openExternal. */
export async function openLink(link: keyof typeof LINKS): Promise<void> {
  const url = new URL(LINKS[link])
  if (url.protocol !== 'https:') throw new Error(`${url.href} is not an https address`)
  await shell.openExternal(url.href)
}
