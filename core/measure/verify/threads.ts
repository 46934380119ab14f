import { inlinePool, sentProblem, type SentProblem, type TaskResults, type VerifyPool, type VerifyTask } from './pool'
import type { ReferenceProblem } from './reference'

/** To a thread. */
export interface ThreadRequest {
  id: number
  problem: SentProblem
  task: VerifyTask
}

/** From a thread: what the task gave, or why it failed. */
export type ThreadAnswer = { id: number; result: TaskResults[VerifyTask['kind']] } | { id: number; error: string }

/** A running thread (a worker thread of Node, a worker of a page), whose program answers with `runSent`. */
export interface VerifyThread {
  post(request: ThreadRequest): void
}

export type StartThread = (on: { answer(answer: ThreadAnswer): void; /** It could not start, or has ended. */ fault(): void }) => VerifyThread

interface Waiting {
  problem: ReferenceProblem
  task: VerifyTask
  settle: (outcome: Promise<TaskResults[VerifyTask['kind']]>) => void
}

/** One thread, started with its first task. What a thread that fails had not answered is done in the calling thread, as is all that comes after. */
class Lane {
  #thread: VerifyThread | undefined
  #broken = false
  readonly #waiting = new Map<number, Waiting>()
  #next = 1

  constructor(readonly start: StartThread) {}

  run(problem: ReferenceProblem, task: VerifyTask): Promise<TaskResults[VerifyTask['kind']]> {
    if (this.#broken) return inlinePool.run(problem, task, 0)
    return new Promise((resolve) => {
      const id = this.#next++
      this.#waiting.set(id, { problem, task, settle: resolve })
      try {
        this.#thread ??= this.start({ answer: (answer) => this.#answered(answer), fault: () => this.#failed() })
        this.#thread.post({ id, problem: sentProblem(problem), task })
      } catch {
        this.#failed()
      }
    })
  }

  #answered(answer: ThreadAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    waiting?.settle('error' in answer ? Promise.reject(new Error(answer.error)) : Promise.resolve(answer.result))
  }

  #failed(): void {
    this.#broken = true
    const left = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { problem, task, settle } of left) settle(inlinePool.run(problem, task, 0))
  }
}

/** A pool of so many threads. */
export function threadPool(lanes: number, start: StartThread): VerifyPool {
  const threads = Array.from({ length: lanes }, () => new Lane(start))
  return {
    lanes,
    run: <T extends VerifyTask>(problem: ReferenceProblem, task: T, lane: number) =>
      threads[lane % lanes]!.run(problem, task) as Promise<TaskResults[T['kind']]>,
  }
}
