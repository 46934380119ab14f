import { associate, associationCommand, dissociate } from '../../app/association'
import type { Context } from '../context'

/** `opscope associate`: has the desktop open session files with this copy of the app, or no longer. */
export function associateFiles(context: Context, options: { remove?: boolean; json?: boolean }): number {
  const place = associationCommand(false, context.io.env)
  const state = options.remove ? dissociate(place) : associate(place)
  if (options.json) context.printJson(state)
  else {
    context.print(options.remove ? 'Files that end in .opscope.json no longer open with Opscope.' : `Files that end in .opscope.json open with Opscope: ${place.command.join(' ')}`)
    for (const note of state.notes) context.remark(`opscope: ${note}`)
  }
  return 0
}
