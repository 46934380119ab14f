import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of the built app, which holds main/, preload/ and renderer/; shared chunks of main lie one level deeper. */
export function outFolder(from = import.meta.dirname): string {
  const places = ['..', '../..'].map((up) => resolve(from, up))
  const found = places.find((folder) => existsSync(join(folder, 'preload', 'index.cjs')))
  if (!found) throw new Error(`the app is not built: expected preload/index.cjs in ${places[0]}; npm run build makes it`)
  return found
}

/** A preload bundle, e.g. `index.cjs`. */
export const preloadFile = (name: string): string => join(outFolder(), 'preload', name)
