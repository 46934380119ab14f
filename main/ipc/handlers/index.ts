import type { Services } from '../../app/services'
import type { Handlers } from '../answer'
import { appHandlers } from './app'
import { baselineHandlers } from './baselines'
import { captureHandlers } from './capture'
import { compareHandlers } from './compare'
import { fileHandlers } from './files'
import { fleetHandlers } from './fleet'
import { historyHandlers } from './history'
import { pythonHandlers } from './python'
import { remoteHandlers } from './remote'
import { runHandlers } from './run'
import { sessionHandlers } from './sessions'

/** A handler for every request of the contract. */
export const createHandlers = (services: Services): Handlers => ({ ...appHandlers(services), ...baselineHandlers(services), ...captureHandlers(services), ...pythonHandlers(services), ...remoteHandlers(services), ...fleetHandlers(services), ...runHandlers(services), ...sessionHandlers(services), ...fileHandlers(services), ...compareHandlers(services), ...historyHandlers(services) })
