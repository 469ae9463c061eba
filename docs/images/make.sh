#!/bin/sh
# Makes the pictures in this folder, from the models alone. At the root of the repository:
#
#     cargo build --release && docs/images/make.sh
#
# Each line below names a model and the times that its picture shows: the system is drawn at the last time,
# and faintly at the earlier ones.
set -eu
pfaff=${PFAFF:-target/release/pfaff}
images=docs/images

while read -r model times; do
    "$pfaff" plot "models/$model.pfaff" -o "$images/gallery/$model.svg" --size 320x200 --drawing "$times"
done <<END
affine_free_2d          0,2.5,5
affine_free_3d          2
appell                  0,1,2
appell_hamel            0,1,2
appell_hamel_elevator   0,1.2,2.4
appell_hamel_spring     0,1,2
bagley_torvik           2
ball                    0,1.5,3
ball_in_bowl            0.3,1,2.2
bead_on_wire            0,1.5,3
bicycle                 0.9
block_on_belt           2.4
bounce_2d               0,0.4,1
bounce_3d               0.7
bouncing_ball           0.2,0.9,1.6,2.4
brachistochrone         0.3,0.6,0.9
bricard                 0,0.5,1
car_trailers            0,4.5,9
cart_pole               0,2.2,2.8,6
compass_walker          0.2,0.9,1.7
contact_oscillator      0,2,3.6
contact_particle        0,1,2
contact_vakonomic       0,1,2
contact_vakonomic_off   0,1,2
decelerated             1,2,4
disk                    1,3,5
disk_vakonomic          0,0.6,1
double_pendulum         0,0.4,0.9
driven_bead             4.5
drop_2d                 0,1.2,2.5
drop_3d                 2
duffing_chain           3
elastic_net             0.6
engel                   0,1,2
falling_cat             0,0.1,0.25
falling_chain           0,0.25,0.45,0.6
falling_disk            1.2,2.4,3.6
flip                    6
four_bar                0,0.6,1.2
fractional_brusselator  40
fractional_constraint   0.5,1,2
fractional_effort       0.3,0.6,0.9
fractional_harmonic     0.3,0.5,0.7
fractional_oscillator   2
fractional_path         0.3,0.6,0.9
fractional_relaxation   0,0.5,2
fractional_thermostat   0,0.7,1.4
heisenberg              0.2,0.45,0.7
isokinetic              2
isokinetic_gas          0.5
knife_edge              1,2.5,4
langevin_gas            10
langevin_sphere         8
martinet                0.2,0.5,0.8
memory_functions        1
moving_ratio            0,1.5,3
newtons_cradle          0,0.3,0.9
noisy_sleigh            0,10,20
parking_trailer         0,0.2,0.5,0.8
pendulum                0,0.2,0.4
prescribed_speed        6
rattleback              0.75
rimless_wheel           0.2,1.2,2.3
rattleback_slip         0.5
ring_of_rods            0,0.2,0.35
rocking_block           0,0.8
roller_racer            1,3,5
rolling_ball            0.4
rotation_free_2d        1
rotation_free_3d        3
rotation_free_vakonomic 1
rotation_free_vakonomic_3d 3
se2                     0,0.3,0.6
shortest_path           0,0.2,0.5,0.8
simplest_walker         1,4.6,8.6
sleigh                  0,2,4
sleigh_billiard         0.5,5
sleigh_centred          0,2,4
sleigh_vakonomic        0,0.4,0.8
slider_crank            0,0.3,0.6
slipping_car            1.2
snake                   0,2,4
snakeboard              2,4,6
star_2d                 0,1,2
star_3d                 2
stick_slip              0.6,4
trailers                0,2,4
train                   0,1
turntable               1
two_wheel_robot         0,2,4
woodpecker              0.08
END

# The picture at the top of the README: a sleigh pushed backwards turns round.
back="x'=-1, phi'=0.05"
"$pfaff" plot models/sleigh.pfaff --initial "$back" --t1 20 -o $images/sleigh.svg --size 460x280 \
    --drawing 0,3,6,7.5,9,10.5,12,14,16
"$pfaff" plot models/sleigh.pfaff --initial "$back" --t1 20 -o $images/sleigh_speed.svg --size 460x280 \
    --columns "speed, phi', energy"

# Pictures of the how-to pages; their models stand there.
model() { sed -n "/^\`\`\`pfaff $2\$/,/^\`\`\`\$/p" "docs/howto/$1.md" | sed '/^```/d'; }
model phase_portraits portrait.pfaff | "$pfaff" plot - -o $images/portrait.svg --drawing 10 --size 480x300
model parking park.pfaff | "$pfaff" plot - -o $images/parking.svg --size 480x300 \
    --drawing 0,0.2,0.35,0.5,0.65,0.8,1
