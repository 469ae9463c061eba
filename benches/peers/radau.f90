! Hairer's RADAU on the problems of stiff.py: prints the problem, the tolerance, the seconds of one integration and the end.
!
!     gfortran -O3 -std=legacy -o radau radau.f90 radau.f decsol.f dc_decsol.f
!
! radau.f, decsol.f and dc_decsol.f are in the folder `lib` of the source package pyradau13 (PyPI).
program peers
  implicit none
  integer, parameter :: problems(4) = [1, 2, 3, 4]
  integer :: p, e
  do p = 1, 4
     do e = 4, 12
        call one(problems(p), 10d0**(-e))
     end do
  end do
contains
  subroutine one(problem, tolerance)
    integer, intent(in) :: problem
    double precision, intent(in) :: tolerance
    integer, parameter :: most = 8, lwork = 2000, liwork = 200, repeats = 50
    double precision :: y(most), work(lwork), x, xend, h, rtol(1), atol(1), rpar(1), begin, finish, best
    integer :: n, iwork(liwork), ipar(1), idid, k, trial
    external :: fcn, jac, mas, solout
    best = 1d9
    do trial = 1, 5
       call cpu_time(begin)
       do k = 1, repeats
          call first(problem, n, y, xend)
          x = 0d0
          h = 1d-6
          rtol = tolerance
          atol = 1d-4*tolerance
          work = 0d0
          iwork = 0
          iwork(2) = 1000000
          ipar(1) = problem
          call radau(n, fcn, x, y, xend, h, rtol, atol, 0, jac, 1, n, n, mas, 0, n, n, solout, 0, &
               work, lwork, iwork, liwork, rpar, ipar, idid)
       end do
       call cpu_time(finish)
       best = min(best, (finish - begin)/repeats)
    end do
    write (*, '(i2, es9.1, es14.5, i4, 8es26.17)') problem, tolerance, best, idid, y(1:n)
  end subroutine one

  subroutine first(problem, n, y, xend)
    integer, intent(in) :: problem
    integer, intent(out) :: n
    double precision, intent(out) :: y(8), xend
    y = 0d0
    select case (problem)
    case (1)
       n = 8; y(1) = 1d0; y(8) = 0.0057d0; xend = 321.8122d0
    case (2)
       n = 3; y(1) = 1d0; xend = 1d4
    case (3)
       n = 3; y(1:3) = [1d0, 2d0, 3d0]; xend = 360d0
    case default
       n = 2; y(1) = 2d0; xend = 2d0
    end select
  end subroutine first
end program peers

subroutine fcn(n, x, y, f, rpar, ipar)
  integer :: n, ipar(*)
  double precision :: x, y(n), f(n), rpar(*)
  select case (ipar(1))
  case (1)
     f(1) = -1.71d0*y(1) + 0.43d0*y(2) + 8.32d0*y(3) + 0.0007d0
     f(2) = 1.71d0*y(1) - 8.75d0*y(2)
     f(3) = -10.03d0*y(3) + 0.43d0*y(4) + 0.035d0*y(5)
     f(4) = 8.32d0*y(2) + 1.71d0*y(3) - 1.12d0*y(4)
     f(5) = -1.745d0*y(5) + 0.43d0*y(6) + 0.43d0*y(7)
     f(6) = -280d0*y(6)*y(8) + 0.69d0*y(4) + 1.71d0*y(5) - 0.43d0*y(6) + 0.69d0*y(7)
     f(7) = 280d0*y(6)*y(8) - 1.81d0*y(7)
     f(8) = -f(7)
  case (2)
     f(1) = -0.04d0*y(1) + 1d4*y(2)*y(3)
     f(3) = 3d7*y(2)**2
     f(2) = -f(1) - f(3)
  case (3)
     f(1) = 77.27d0*(y(2) + y(1)*(1d0 - 8.375d-6*y(1) - y(2)))
     f(2) = (y(3) - (1d0 + y(1))*y(2))/77.27d0
     f(3) = 0.161d0*(y(1) - y(3))
  case default
     f(1) = y(2)
     f(2) = ((1d0 - y(1)**2)*y(2) - y(1))*1d6
  end select
end subroutine fcn

subroutine jac(n, x, y, d, ld, rpar, ipar)
  integer :: n, ld, ipar(*)
  double precision :: x, y(n), d(ld, n), rpar(*)
  d(1:n, 1:n) = 0d0
  select case (ipar(1))
  case (1)
     d(1, 1:3) = [-1.71d0, 0.43d0, 8.32d0]
     d(2, 1:2) = [1.71d0, -8.75d0]
     d(3, 3:5) = [-10.03d0, 0.43d0, 0.035d0]
     d(4, 2:4) = [8.32d0, 1.71d0, -1.12d0]
     d(5, 5:7) = [-1.745d0, 0.43d0, 0.43d0]
     d(6, 4:8) = [0.69d0, 1.71d0, -280d0*y(8) - 0.43d0, 0.69d0, -280d0*y(6)]
     d(7, 6:8) = [280d0*y(8), -1.81d0, 280d0*y(6)]
     d(8, 6:8) = -d(7, 6:8)
  case (2)
     d(1, :3) = [-0.04d0, 1d4*y(3), 1d4*y(2)]
     d(2, :3) = [0.04d0, -1d4*y(3) - 6d7*y(2), -1d4*y(2)]
     d(3, 2) = 6d7*y(2)
  case (3)
     d(1, :2) = [77.27d0*(1d0 - 1.675d-5*y(1) - y(2)), 77.27d0*(1d0 - y(1))]
     d(2, :3) = [-y(2)/77.27d0, -(1d0 + y(1))/77.27d0, 1d0/77.27d0]
     d(3, 1) = 0.161d0
     d(3, 3) = -0.161d0
  case default
     d(1, 2) = 1d0
     d(2, :2) = [(-2d0*y(1)*y(2) - 1d0)*1d6, (1d0 - y(1)**2)*1d6]
  end select
end subroutine jac

subroutine mas(n, am, lmas, rpar, ipar)
  integer :: n, lmas, ipar(*)
  double precision :: am(lmas, n), rpar(*)
end subroutine mas

subroutine solout(nr, xold, x, y, cont, lrc, n, rpar, ipar, irtrn)
  integer :: nr, lrc, n, ipar(*), irtrn
  double precision :: xold, x, y(n), cont(lrc), rpar(*)
end subroutine solout
