// First steps: small models, each with a word on what to do with it.

export interface Step { name: string; title: string; text: string }

const step = (number: number, title: string, text: string): Step => ({ name: `step_${number}`, title: `${number}. ${title}`, text: text.trimStart() });

export const TUTORIAL: Step[] = [
  step(1, "A pendulum", `
# A mass on a rod. Drag the ring at its end, or change a number in this text:
# write l = 2 instead of l = 1, and see the motion and the equations change.
title        "A pendulum"
coordinates  x, y
parameters   m = 1, g = 9.81, l = 1
kinetic      m*(x'^2 + y'^2)/2
potential    m*g*y
constraint   rod: x^2 + y^2 = l^2
initial      x = 0.6*l, y = -0.8*l
draw         line [0, 0] to [x, y] width 3
draw         trail [x, y]
draw         point [x, y] radius 0.06
solve        t = 0..10
`),
  step(2, "The same in one angle", `
# One coordinate instead of two and a constraint: the motion is the same.
# Open the tab "Hamilton" of the equations. Then add air: see the line that begins with #.
title        "A pendulum in its angle"
coordinates  th
parameters   m = 1, g = 9.81, l = 1, c = 0.3
let          P = l*[sin(th), -cos(th)]
kinetic      m*dot(P', P')/2
potential    m*g*P[2]
# force      th: -c*th'
initial      th = 0.6435
draw         line [0, 0] to P width 3
draw         trail P
draw         point P radius 0.06
solve        t = 0..10
`),
  step(3, "Look at a quantity", `
# observe makes a column for the plots and the table; event marks moments.
# Plot tension over x. Where is it largest?
title        "The force in the rod"
coordinates  x, y
parameters   m = 1, g = 9.81, l = 1
kinetic      m*(x'^2 + y'^2)/2
potential    m*g*y
constraint   rod: x^2 + y^2 = l^2
initial      x = 0.6*l, y = -0.8*l
observe      tension = -2*l*lambda(rod)
event        falling lowest: x
draw         line [0, 0] to [x, y] width 3
draw         point [x, y] radius 0.06
draw         arrow [x, y] along [reaction(x), reaction(y)] scale 0.03 label "force of the rod"
solve        t = 0..10
`),
  step(4, "A skate", `
# A constraint on velocities: the blade goes along phi, never sideways.
# Give it another turn (phi') and another push (x').
title        "A skate on a slope"
coordinates  x, y, phi
parameters   m = 1, J = 0.1, g = 9.81, slope = 0.2
kinetic      m*(x'^2 + y'^2)/2 + J*phi'^2/2
potential    -m*g*sin(slope)*x
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
initial      phi' = 1, x' = 0
draw         trail [x, y]
draw         wheel [x, y] heading phi length 0.3
solve        t = 0..12
`),
  step(5, "A floor to bounce on", `
# contact keeps a quantity from becoming negative; restitution says how much speed a bounce returns.
# Move e to 1 and to 0.
title        "A ball"
coordinates  x, y
parameters   g = 9.81, e = 0.8
lagrangian   (x'^2 + y'^2)/2 - g*y
contact      floor: y >= 0, restitution = e
initial      y = 1, x' = 0.5
draw         line [-0.3, 0] to [2.8, 0] colour grey width 3
draw         trail [x, y]
draw         disk [x, y] radius 0.05 colour red
solve        t = 0..5
`),
  step(6, "Two principles", `
# Under a velocity constraint the principle matters. Open "Principles in one picture" and compare.
title        "A particle with z' = y x'"
coordinates  x, y, z
lagrangian   (x'^2 + y'^2 + z'^2)/2
constraint   contact: z' = y*x'
initial      x' = 1, y = 0.5, y' = 0.7
draw         point [x, y, z]
draw         trail [x, y, z]
draw         trail [x, y, 0] colour grey dashed
solve        t = 0..3
`),
];
