import { defineStore } from 'pinia'
import { computed, onBeforeUnmount, onMounted, ref, shallowRef } from 'vue'
import { renameView, withView, type SavedView, type View, type ViewOf } from '@core/session/saved-views'
import { useNotices } from './notices'
import { useSettings } from './settings'

/** Charts and table on show, whose state can be kept and set. */
export interface Viewed {
  of: ViewOf
  /** The state now, and what it shows in words; plain data. */
  read(): { view: View; about: string }
  show(view: View): void
}

/** States of charts and table under names, kept by main in the settings. */
export const useViews = defineStore('views', () => {
  const settings = useSettings()
  const notices = useNotices()
  /** Those on show, the last one in front. */
  const viewed = shallowRef<readonly Viewed[]>([])
  const current = computed(() => viewed.value.at(-1))
  const menuOpen = ref(false)
  const all = computed<readonly SavedView[]>(() => settings.values.savedViews ?? [])
  /** Those that what is on show can take. */
  const saved = computed(() => all.value.filter(({ view }) => view.of === current.value?.of))

  /** Keeps a list, and says why where it cannot. Returns whether it could. */
  function keep(make: () => SavedView[]): boolean {
    try {
      settings.set({ savedViews: make() })
      return true
    } catch (error) {
      notices.show({ level: 'error', message: error instanceof Error ? error.message : String(error) })
      return false
    }
  }

  /** Shows what was done; Undo brings the list back as it was. */
  function tell(message: string, before: readonly SavedView[]): void {
    notices.show({ level: 'info', message, undo: () => Promise.resolve(settings.set({ savedViews: [...before] })) })
  }

  /** Saves what is on show under a name; a view of that name is replaced. */
  function save(name: string): boolean {
    if (!current.value) return false
    const before = all.value
    const replaces = before.some((one) => one.name === name.trim())
    const { view, about } = current.value.read()
    if (!keep(() => withView(before, { name, about: about.slice(0, 400), view }))) return false
    tell(`${replaces ? 'Replaced' : 'Saved'} the view “${name.trim()}”.`, before)
    return true
  }

  const rename = (from: string, to: string): boolean => keep(() => renameView(all.value, from, to))

  function remove(name: string): void {
    const before = all.value
    if (keep(() => before.filter((one) => one.name !== name))) tell(`Deleted the view “${name}”.`, before)
  }

  /** Shows a saved view; Undo brings back what was shown before. */
  function apply({ name, view }: SavedView): void {
    const target = current.value
    if (target?.of !== view.of) return
    const before = target.read().view
    target.show(JSON.parse(JSON.stringify(view)) as View)
    notices.show({ level: 'info', message: `Applied the view “${name}”.`, undo: () => Promise.resolve(target.show(before)) })
  }

  /** Offers these charts and table for as long as the component is mounted. */
  function useViewed(one: Viewed): void {
    onMounted(() => (viewed.value = [...viewed.value, one]))
    onBeforeUnmount(() => (viewed.value = viewed.value.filter((other) => other !== one)))
  }

  return { current, menuOpen, saved, all, save, rename, remove, apply, useViewed }
})
