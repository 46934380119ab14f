import { getCurrentInstance, onBeforeUnmount, onMounted } from 'vue'

/** In a panel that opens beside other things: when it closes with the focus in it, the focus goes back to where it was before, if that is still there. */
export function useReturnFocus(): void {
  const instance = getCurrentInstance()
  let before: Element | null = null
  onMounted(() => (before = document.activeElement))
  onBeforeUnmount(() => {
    const panel = instance?.proxy?.$el as Node | undefined
    if (before instanceof HTMLElement && before !== document.body && before.isConnected && panel?.contains(document.activeElement)) before.focus()
  })
}
