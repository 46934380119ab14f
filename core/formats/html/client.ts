import { sha256 } from '@noble/hashes/sha2.js'
import source from './report.js?raw'

/** The report's script as it stands in the file: no text in it can end its element. */
export const SCRIPT = source.replace(/\/\*[^]*?\*\//g, '').replace(/^[ \t]+/gm, '').replace(/\n{2,}/g, '\n').trim()

const digest = sha256(new TextEncoder().encode(SCRIPT))

/** Nothing may be loaded or sent; only the style of the file applies, and only its own script, by its hash, runs. */
export const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${btoa(String.fromCharCode(...digest))}'; base-uri 'none'; form-action 'none'`
