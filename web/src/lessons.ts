// Lessons: for some models of the gallery a few sentences, questions, and things to try.

export interface Lesson { title: string; text: string; tries: string[] }

export const LESSONS: Record<string, Lesson> = {
  pendulum: {
    title: "The pendulum",
    text: "One mass on a rod, in Cartesian coordinates: the rod is a constraint, and its tension is the multiplier.",
    tries: [
      "Find the tension among the columns of a plot. Where on its way is it largest, and why?",
      "Give the mass a push (an initial velocity) until it goes over the top. What does the tension do there?",
      "Drag the mass to another start. Does the audit still pass? What does it check?",
    ],
  },
  sleigh: {
    title: "Chaplygin's sleigh",
    text: "A skate cannot slip sideways. Pushed backwards, it turns round by itself, although its energy is kept.",
    tries: [
      "Move a, the distance from the blade to the centre of mass, through zero. What happens to the turn?",
      "Plot speed over time, and phi' over speed. Why is the second curve a piece of an ellipse?",
      "Look at the reduced equations: u1' is never negative if a > 0. What does that say about the end of every motion?",
    ],
  },
  double_pendulum: {
    title: "The double pendulum",
    text: "Two rods, no constraint left in angles, and a motion that nobody can predict for long.",
    tries: [
      "Keep a run, then change the start in the fifth digit. When do the two curves part?",
      "Look at the estimated error in the audit. Why does it grow with the time?",
      "Make the second mass tiny. Which motion is left?",
    ],
  },
  disk: {
    title: "The rolling disk",
    text: "A coin that stays upright and rolls without slipping: two constraints on velocities, none on positions.",
    tries: [
      "Is there any place and heading that the coin cannot reach? The check in the audit view tells.",
      "Set its turning to zero, then slowly more. What curve does the point of contact follow?",
      "Compare the principles: the vakonomic coin does not roll along a circle. Which of the two would a real coin choose?",
    ],
  },
  rattleback: {
    title: "The rattleback",
    text: "A stone that spins happily one way and refuses the other: it starts to rattle and turns back.",
    tries: [
      "Change the sign of its spin at the start. Which direction does it like?",
      "Make the two radii of curvature equal. Does it still turn back?",
      "Where does the energy of the spin go while it turns back? Plot it.",
    ],
  },
  snakeboard: {
    title: "The snakeboard",
    text: "A board that is driven by twisting one's body: nobody touches the ground, and still it moves.",
    tries: [
      "Change how fast the rider twists and steers. When does the board move forwards, and when sideways?",
      "Look at the constraints' reactions: which wheels carry the board around a bend?",
      "Read the equations in Boltzmann and Hamel's form. Which velocity is driven, and which follows?",
    ],
  },
  contact_vakonomic: {
    title: "Two principles, two motions",
    text: "The same Lagrangian and the same constraint: d'Alembert's principle and the vakonomic one give different motions.",
    tries: [
      "Compare the principles side by side. At which moment can you tell them apart?",
      "The vakonomic motion has a free number, the multiplier at the start. Change it.",
      "Which of the two keeps the energy? Which makes the action stationary?",
    ],
  },
  fractional_oscillator: {
    title: "An oscillator that remembers",
    text: "A force that depends on the whole past by a power law: something between a spring and a dashpot.",
    tries: [
      "Move the order of the derivative from 1 to 2. Where is friction, and where is inertia?",
      "Keep a run with order 1.5. Does its end look like an exponential? Plot its logarithm.",
      "Why does such a system have no energy that is kept?",
    ],
  },
};
