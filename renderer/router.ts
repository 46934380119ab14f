import { createRouter, createWebHashHistory } from 'vue-router'

/** Views by name; `view.<name>` is the command that opens each. Split so that the run view starts alone. */
export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/', redirect: '/run' },
    { path: '/run', name: 'run', component: () => import('./views/run/RunView.vue') },
    { path: '/suites', name: 'suites', meta: { within: 'run' }, component: () => import('./views/suites/SuitesView.vue') },
    { path: '/capture', name: 'capture', meta: { within: 'run' }, component: () => import('./views/capture/CaptureView.vue') },
    { path: '/suite/:id', name: 'suite', meta: { within: 'session' }, component: () => import('./views/suites/SuiteView.vue') },
    { path: '/session/:id?', name: 'session', component: () => import('./views/session/SessionView.vue') },
    { path: '/compare', name: 'compare', component: () => import('./views/compare/CompareView.vue') },
    { path: '/history', name: 'history', component: () => import('./views/history/HistoryView.vue') },
    { path: '/case', name: 'case', meta: { within: 'history' }, component: () => import('./views/case/CaseView.vue') },
    { path: '/devices', name: 'devices', component: () => import('./views/devices/DevicesView.vue') },
    { path: '/fleet', name: 'fleet', meta: { within: 'devices' }, component: () => import('./views/fleet/FleetView.vue') },
    { path: '/settings', name: 'settings', component: () => import('./views/settings/SettingsView.vue') },
    { path: '/guide', name: 'guide', component: () => import('./views/guide/GuideView.vue') },
    { path: '/licences', name: 'licences', meta: { within: 'settings' }, component: () => import('./views/licences/LicencesView.vue') },
    { path: '/:rest(.*)*', redirect: '/run' },
  ],
})
