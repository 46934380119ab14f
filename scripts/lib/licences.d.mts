/** A package whose code is in the app, with the texts of its licence files. */
export interface Licence {
  name: string
  version: string
  licence: string
  text: string
}

/** What a package in this folder states of itself. */
export function licenceOf(folder: string): Licence

/** A plugin of the bundler that writes the licences of all bundled packages as JSON; `also`: packages that are shipped without being bundled. */
export function collectLicences(options: { file: string; also: readonly string[]; root: string }): {
  name: string
  generateBundle(options: unknown, bundle: Readonly<Record<string, object>>): void
  closeBundle(): void
}
