import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * How `npm run package` packs the app. What depends on the machine (Electron's folder and version, a test build) is
 * given on electron-builder's command line by scripts/lib/packager.mjs.
 */

/** What sessions are called everywhere; main/app/association registers the same on Linux. */
const session = { ext: 'opscope.json', name: 'Opscope session', description: 'Opscope session', mimeType: 'application/vnd.opscope.session+json', role: 'Editor', rank: 'Owner' }

/** The package's copy of SQLite for other platforms, and what only its compilation needs. */
const SQLITE_LEFT_OUT = ['src/**', 'binding.gyp', 'prebuilds/!(${platform}-${arch})/**'].map((path) => `!node_modules/@photostructure/sqlite/${path}`)

/** The addon, and the library that Python loads. */
const NATIVE = ['native/build/opscope.node', 'native/build/*opscope_guest.{so,dylib,dll}']

export default {
  appId: 'dev.opscope.app',
  productName: 'Opscope',
  copyright: 'MIT licence',
  directories: { output: 'dist', buildResources: 'packaging' },
  icon: 'packaging/icon.png',
  // JavaScript is bundled into out/. The Node binaries among the optional dependencies are for scripts only.
  files: ['out/**', 'package.json', 'LICENSE', 'packaging/icon.svg', ...NATIVE, '!out/.opscope-stamp', '!node_modules/node-{linux,win,darwin}-*/**', '!node_modules/node-addon-api/**', '!**/*.{map,d.ts,d.mts,d.cts}', ...SQLITE_LEFT_OUT],
  asar: { smartUnpack: false },
  // Files that the system or another program opens by their path.
  asarUnpack: ['**/*.node', ...NATIVE, 'out/main/python/**'],
  npmRebuild: false,
  // What Electron runs when it is started with the path of some other app.
  afterPack: ({ appOutDir }) => rm(join(appOutDir, 'resources', 'default_app.asar'), { force: true }),
  electronFuses: {
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    grantFileProtocolExtraPrivileges: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
  },
  fileAssociations: [session],
  // Links to sessions; core/session/links.ts reads them.
  protocols: [{ name: 'Opscope link', schemes: ['opscope'] }],
  linux: { target: ['AppImage'], category: 'Development', executableName: 'opscope', synopsis: 'Profiler for tensor operations', maintainer: 'Opscope' },
  mac: { target: ['dmg'], category: 'public.app-category.developer-tools' },
  win: { target: ['nsis'] },
  // Registering a file type on Windows is the installer's work.
  nsis: { oneClick: false, perMachine: false, allowToChangeInstallationDirectory: true },
}
