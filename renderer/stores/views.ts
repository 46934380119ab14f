import { defineStore } from 'pinia'
import { computed, onBeforeUnmount, onMounted, ref, shallowRef } from 'vue'
import { renameView, withView, type SavedView, type View, type ViewOf } from '@core/session/saved/views'
import { useNamedList } from '../lib/named-list'
import { useNotices } from './notices'

/** Charts and table on show, whose state can be kept and set. */
export interface Viewed {
  of: ViewOf
  /** The state now, and what it shows in words; plain data. */
  read(): { view: View; about: string }
  show(view: View): void
}

/** States of charts and table under names, kept by main in the settings. */
export const useViews = defineStore('views', () => {
  const list = useNamedList('savedViews', { word: 'view', renamed: renameView })
  const notices = useNotices()
  /** Those on show, the last one in front. */
  const viewed = shallowRef<readonly Viewed[]>([])
  const current = computed(() => viewed.value.at(-1))
  const menuOpen = ref(false)
  /** Those that what is on show can take. */
  const saved = computed(() => list.all.value.filter(({ view }) => view.of === current.value?.of))

  /** Saves what is on show under a name; a view of that name is replaced. */
  function save(name: string): boolean {
    if (!current.value) return false
    const { view, about } = current.value.read()
    return list.save(name, (before) => withView(before, { name, about: about.slice(0, 400), view }))
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

  return { current, menuOpen, saved, all: list.all, save, rename: list.rename, remove: list.remove, apply, useViewed }
})
