// Lessons: eight models of the gallery with what to see, questions with answers, and things to try.

import { element } from "./dom";

export interface Lesson {
  title: string;
  /** What the model is and what to look at. */
  text: string;
  /** A question and its answer. */
  questions: [string, string][];
  /** Things to try in the workbench. */
  tries: string[];
}

export const LESSONS: Record<string, Lesson> = {
  pendulum: {
    title: "The pendulum and the force in its rod",
    text: "A mass on a rod, written in x and y. The rod is a constraint, x² + y² = l². The engine finds the force that keeps "
      + "the mass on its circle: the multiplier λ, and from it the tension.",
    questions: [
      ["Where on its way is the tension largest? Guess first, then look at the plot.",
        "At the lowest point. There the rod carries the weight and turns the mass round at its greatest speed: "
        + "m·g + m·v²/l. From rest at an angle with cosine c₀ this is m·g·(3 − 2·c₀), here 13.7."],
      ["A clock with small swings would need 2π√(l/g) = 2.006 for a swing. This one needs 2.059. Why?",
        "The swing is not small. The restoring force grows like the sine of the angle, which is less than the angle, so that "
        + "wide swings take longer."],
      ["How fast must the mass start to go over the top?",
        "It starts 0.8 below the pivot and must climb to 1 above it, so that v² ≥ 2·g·1.8: about 5.94."],
    ],
    tries: [
      "Pull the tip of the small arrow at the ring until the mass goes round. What is the sign of the tension at the top, just "
      + "above the critical speed? Would a string do?",
      "Press “Keep this run”, then move g down to the value on the Moon, 1.62. Compare the two curves.",
      "Plot y over x. Then add a phase portrait of x and click into it a few times.",
    ],
  },
  sleigh: {
    title: "The sleigh that turns round by itself",
    text: "A body slides on a knife edge: it goes along the blade, never sideways. Nothing drives it and nothing brakes it, and "
      + "still it prefers one direction. Such a thing is possible only with constraints on velocities.",
    questions: [
      ["Set x' = −1 and phi' = 0.05 at the start, and until t = 60. What happens, and why is the energy not the reason?",
        "The sleigh turns round and then runs forwards. Its energy is the same all the time; it moves from going to turning and "
        + "back. The reduced equations say u₁' = a·u₂²: the speed along the blade never falls if a > 0."],
      ["Plot phi' over speed. Which curve is it?",
        "A piece of an ellipse. Its points have the same energy, m·u₁²/2 + (J + m·a²)·u₂²/2."],
      ["Which speed does it have in the end, from x' = 1 and phi' = 0.3?",
        "All energy is in going: u = √(1 + (J + m·a²)/m · 0.09) = 1.024."],
    ],
    tries: [
      "Move a, the distance from the blade to the centre of mass, slowly to zero. Then type a = −0.2. Which direction does the "
      + "sleigh prefer now?",
      "Open the tab “Reduced”. Find the two equations that all this follows from.",
      "Compare the principles. How does the vakonomic sleigh move?",
    ],
  },
  double_pendulum: {
    title: "The double pendulum and the end of prediction",
    text: "Two rods, two masses, no friction. The equations are exact and the computer is careful, and still nobody can say where "
      + "the second mass will be in a minute.",
    questions: [
      ["Keep this run until t = 10, then write a = 1.601 instead of 1.6. When can you see the two runs part?",
        "After about eight seconds. The difference of one thousandth stays small at first, is multiplied by hundred within eight "
        + "seconds, and is as large as the motion itself at t = 9."],
      ["So is the computed motion wrong?",
        "Not to t = 5: the audit estimates its error. But errors grow like that difference. Ten more digits at the start buy a "
        + "few more seconds, not a minute."],
      ["Which quantity can you still trust at late times?",
        "The energy: it is conserved, and the audit watches its balance."],
    ],
    tries: [
      "Drag the second mass to other places. From which heights does it go over the top?",
      "Type m2 = 0.001. Which motion does the first mass make now?",
      "Start with small angles, a = b = 0.1, and plot a and b. Can you find starts for which both swing in step?",
    ],
  },
  disk: {
    title: "The coin on a slope",
    text: "An upright disk rolls without slipping on a slope. Two constraints tie its velocity to its rolling and heading. They "
      + "restrict how it moves, not where it can be.",
    questions: [
      ["Let the coin go on a slope while it turns. Does it run down?",
        "No. On average it drifts across the slope: x swings to and fro, y grows."],
      ["Set beta = 0. What does the point of contact follow?",
        "A circle of radius R·phi'/psi' = 0.8."],
      ["Four coordinates and two constraints: how many degrees of freedom? And how many numbers say where the coin is?",
        "Two degrees of freedom, but all four numbers stay free: the constraints are not integrable, so that any place and "
        + "heading can be reached by rolling."],
    ],
    tries: [
      "Move psi' towards zero. When does the coin begin to run down?",
      "Open the tab “Geometry” and find the growth vector. (2, 3, 4) or so means: by rolling to and fro every direction can be gained.",
      "Set psi' = 0 and steer by hand: can you park the coin beside itself?",
    ],
  },
  rattleback: {
    title: "The stone that refuses to spin",
    text: "A rattleback spins happily one way. The other way it begins to rattle, stops, and turns back, with no motor inside.",
    questions: [
      ["Watch the plot of the spin. It starts with −5. When does it turn back?",
        "At t = 2.76. It goes on to +4.4 at t = 5."],
      ["Set spin0 = 5. Does it turn back now?",
        "Not within the five seconds: this is the direction it likes. The spin falls from 5 to 4.4 only."],
      ["Where is the energy at the moment when the spin is zero?",
        "In the rattling: alpha' and beta'. The sum is conserved, as the audit shows."],
    ],
    tries: [
      "Type 0 for J[1,2] and for J[2,1]. Now the axes of inertia and of the shape agree. Does the stone still prefer a direction?",
      "Plot alpha' and beta' together with the spin. What grows while the spin falls?",
      "Turn the picture by dragging it, and look at the trail of the point of contact.",
    ],
  },
  snakeboard: {
    title: "The board that is not pushed",
    text: "A rider turns the upper body and steers the wheels. No foot touches the ground, and the board gains speed.",
    questions: [
      ["Set steer = 0: the rider turns the body, but does not steer. How far does the board get?",
        "Nowhere. It rocks by some millimetres."],
      ["What happens if turn changes its sign?",
        "The board swims in the other direction: the same motion, backwards."],
      ["Nothing pushes the board from outside. Where does its energy come from?",
        "From the rider: the multipliers of steering and rotor are the rider's torques. Plot power. The ground gives the "
        + "force sideways at the wheels, which do no work."],
    ],
    tries: [
      "Double w. The path is the same and is run through twice as fast. Can you see why from the constraints?",
      "Make turn larger. Does the board go faster, and does it stay on course?",
      "Open the tab “Boltzmann–Hamel”. Which velocity is driven, and which follows?",
    ],
  },
  contact_vakonomic: {
    title: "Two principles, two motions",
    text: "One Lagrangian, one constraint, z' = y·x', one start, and two answers. D'Alembert's principle says: the reaction does "
      + "no work. The vakonomic principle says: among the paths that obey the constraint the action is stationary. For "
      + "holonomic constraints both say the same. Here they do not.",
    questions: [
      ["Compare the principles. Where is each particle at t = 3?",
        "x = 1.06, y = 3.88 under the vakonomic principle, x = 1.92, y = 2.6 under d'Alembert's."],
      ["In the first moments both look alike. How do they part?",
        "Like t²: the accelerations differ, places and velocities agree at the start."],
      ["Which of the two would a skate follow?",
        "D'Alembert's, as experiments show. The vakonomic one is right for a driver who looks for the cheapest path: "
        + "optimal control."],
    ],
    tries: [
      "Set w = 0, so that y' = 0 at the start. Under which principle does y stay constant?",
      "Plot (1 + y^2)*x' under the vakonomic principle, and y' under d'Alembert's (Principle: chetaev). What do you see?",
      "Choose another model with a velocity constraint, such as sleigh_vakonomic, and compare there.",
    ],
  },
  bouncing_ball: {
    title: "Infinitely many bounces in four seconds",
    text: "A ball falls, bounces, and keeps e = 0.8 of its speed each time. The bounces become ever shorter, and then there are none: "
      + "the ball lies on the floor and slides on.",
    questions: [
      ["When does it come to rest, and how many bounces did it take?",
        "At t = √(2h/g)·(1 + e)/(1 − e) = 4.06, after infinitely many bounces. Their times are a geometric series, and its sum is finite."],
      ["What does lambda(floor) do after that?",
        "It is the weight of the ball, 9.81, all the time. Before, the floor acts in moments only."],
      ["Is energy conserved?",
        "In flight, yes. Each bounce takes the part 1 − e² of the energy of falling. The audit counts it in the balance."],
    ],
    tries: [
      "Set e = 0.9 and until t = 10. When does the ball come to rest now?",
      "Set e = 0. What is left?",
      "Plot y over x, and y' over y. What do the bounces look like in the phase portrait?",
    ],
  },
};

const answers = (lesson: Lesson) => element("ol", {}, ...lesson.questions.map(([question, answer]) => element("li", {}, question,
  element("details", { class: "answer" }, element("summary", {}, "Answer"), element("p", {}, answer)))));
const tries = (lesson: Lesson) => element("ul", {}, ...lesson.tries.map((t) => element("li", {}, t)));

/** The lesson of a model, folded; nothing if it has none. */
export function lessonBox(name: string): HTMLElement[] {
  const lesson = LESSONS[name];
  if (!lesson) return [];
  return [element("details", { class: "lesson" }, element("summary", {}, `Lesson: ${lesson.title}`), ...lessonParts(lesson))];
}

/** Text, questions and things to try. */
export function lessonParts(lesson: Lesson): HTMLElement[] {
  return [element("p", {}, lesson.text), element("h3", {}, "Questions"), answers(lesson), element("h3", {}, "Try it"), tries(lesson)];
}
